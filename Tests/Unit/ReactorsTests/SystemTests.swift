import Glibc
import Testing

@testable import Reactors

@Suite struct SystemTests {
    /// What a thread is called, told to another.
    final class Name: Sendable {
        let bytes = Guarded<[UInt8]>([])
    }

    @Test func aThreadRunsItsBodyUnderItsNameAndIsJoined() throws {
        let name = Name()
        let thread = try Thread.start("shard-0") {
            var bytes = [UInt8](repeating: 0, count: 32)
            let descriptor = unsafe open("/proc/thread-self/comm", O_RDONLY)
            let count = unsafe read(descriptor, &bytes, 32)
            _ = close(descriptor)
            name.bytes.withLock { $0 = Array(bytes.prefix(max(count, 0))) }
        }
        thread.join()
        #expect(name.bytes.withLock { $0 } == Array("shard-0\n".utf8))
    }

    @Test func aGuardedValueIsOneThreadsAtATime() throws {
        let guarded = Guarded(0)
        let threads = try (0..<4).map { number in
            try Thread.start("guarded-\(number)") {
                for _ in 0..<10_000 { guarded.withLock { $0 += 1 } }
            }
        }
        for thread in threads { thread.join() }
        #expect(guarded.withLock { $0 } == 40_000)
        #expect(throws: Errno.noMemory) { try guarded.withLock { _ throws(Errno) in throw .noMemory } }
        #expect(guarded.withLock { $0 } == 40_000, "a body that throws unlocks")
    }

    @Test func aWakeEndsAWaitOfAThreadWithoutAReactor() throws {
        let wake = try Wake()
        let woken = Counter()
        let thread = try Thread.start("waiter") {
            wake.wait()
            woken.set(1)
        }
        wake.signal()
        thread.join()
        #expect(woken.value == 1)
    }

    @Test func signalsAreAbsorbedByOneAcknowledgement() throws {
        let wake = try Wake()
        for _ in 0..<10 { wake.signal() }
        wake.acknowledge()
        #expect(MailboxTests.signals(wake) == 0)
        wake.acknowledge()
    }

    @Test func anInterruptedCallIsRepeated() throws {
        var calls = 0
        let result = try retrying {
            calls += 1
            errno = EINTR
            return calls < 4 ? Int32(-1) : 7
        }
        #expect(result == 7)
        #expect(calls == 4)
    }

    @Test func anotherFailureIsThrown() {
        var calls = 0
        #expect(throws: Errno(code: ENOENT)) {
            try retrying {
                calls += 1
                errno = ENOENT
                return -1
            }
        }
        #expect(calls == 1)
    }

    @Test func anErrnoSpeaks() {
        #expect(Errno(code: ENOENT).description == "No such file or directory")
        #expect(Errno.tooManyFiles.code == EMFILE)
        #expect(!Errno(code: 99_999).description.isEmpty)
    }

    @Test func aDescriptorIsClosedWithItsOwner() throws {
        let number: Int32
        do {
            let pair = try SocketPair()
            number = pair.near.raw
            #expect(fcntl(number, F_GETFD) >= 0)
        }
        // Tests run side by side, so the number may be somebody else's by now; its identity is not asked for again.
        let raw = try retrying { dup(0) }
        let kept = FileDescriptor(owning: raw).release()
        #expect(kept == raw)
        #expect(fcntl(kept, F_GETFD) >= 0)
        #expect(close(kept) == 0)
    }

    @Test func clocksAgreeWithThemselves() {
        let (firstUs, firstMs) = (Clock.monotonicUs(), Clock.monotonicMs())
        #expect(firstMs >= firstUs / 1_000)
        #expect(Clock.monotonicMs() >= firstMs)
        #expect(Clock.wallMs() > 1_700_000_000_000)
    }

    @Test func ticksAreCountedByDuration() {
        let statistics = LoopStatistics()
        let bounds = LoopStatistics.boundsUs
        #expect(statistics.durations.counts == Array(repeating: 0, count: bounds.count + 1))
        for (index, bound) in bounds.enumerated() {
            statistics.record(durationUs: bound, nowMs: index)
            statistics.record(durationUs: bound + 1, nowMs: index)
        }
        statistics.record(durationUs: 0, nowMs: 99)
        // Each bound belongs to its bucket, one more to the next; the last bucket takes everything beyond.
        #expect(statistics.durations.counts == [2] + Array(repeating: 2, count: bounds.count - 1) + [1])
        #expect(statistics.ticks.value == 2 * bounds.count + 1)
        #expect(statistics.durations.sumUs.value == bounds.reduce(0) { $0 + 2 * $1 + 1 })
        #expect(statistics.lastTickMs.value == 99)
        #expect(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test func aCounterCounts() {
        let counter = Counter()
        #expect(counter.value == 0)
        counter.add(5)
        counter.add(-2)
        #expect(counter.value == 3)
        counter.set(Int.max)
        counter.add(1)
        #expect(counter.value == Int.min)
    }

    @Test func tokensCarrySlotAndGeneration() {
        for (slot, generation) in [(0, UInt32(0)), (5, 9), (Int(UInt32.max), UInt32.max)] {
            let token = EventToken(slot: slot, generation: generation)
            #expect(token.slot == slot)
            #expect(token.generation == generation)
            #expect(EventToken(raw: token.raw) == token)
        }
    }
}
