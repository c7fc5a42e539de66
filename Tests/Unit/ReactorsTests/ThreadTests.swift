import Glibc
import Testing

@testable import Reactors

@Suite struct ThreadTests {
    /// The scheduling policy of a thread that chose one and then asked for a slice.
    private static func policy(after chosen: Int32) throws -> Int32 {
        let seen = Guarded(Int32(-1))
        try Reactors.Thread.start("policy") {
            var parameters = sched_param()
            guard unsafe sched_setscheduler(0, chosen, &parameters) == 0 else { return }
            Reactors.Thread.setSlice(us: 100)
            let policy = sched_getscheduler(0)
            seen.withLock { $0 = policy }
        }.join()
        return seen.withLock { $0 }
    }

    /// Asking for a slice must not undo what an operator chose with chrt(1).
    @Test(arguments: [0 as Int32, 3])
    func aSliceLeavesThePolicy(_ policy: Int32) throws {
        #expect(try ThreadTests.policy(after: policy) == policy, "0 is SCHED_OTHER, 3 is SCHED_BATCH")
    }
}
