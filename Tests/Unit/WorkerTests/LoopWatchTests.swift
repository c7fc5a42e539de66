import Service
import Testing

/// How long a loop may stand: decided without a clock.
@Suite struct LoopWatchTests {
    /// The verdicts of looks a second apart, each with the ticks of all loops.
    private func verdicts(_ watch: inout LoopWatch, _ looks: [[Int]], everyMs: Int = 1_000) -> [LoopWatch.Verdict] {
        looks.enumerated().map { watch.look($1, nowMs: $0 * everyMs) }
    }

    @Test func loopsThatTurnAreWell() {
        var watch = LoopWatch(count: 2, exitMs: 3_000)
        #expect(verdicts(&watch, (0..<9).map { [$0, $0 * 7] }).allSatisfy { $0 == .turning })
    }

    @Test func aLoopThatStandsIsNoticedAndEndsTheProcess() {
        var watch = LoopWatch(count: 2, exitMs: 3_000)
        let looks = [[1, 1], [2, 1], [3, 1], [4, 1], [5, 1]]
        #expect(
            verdicts(&watch, looks) == [
                .turning, .turning, .standing, .stuck(loop: 1, standingMs: 3_000), .stuck(loop: 1, standingMs: 4_000),
            ])
    }

    @Test func aLoopThatComesBackIsWellAgain() {
        var watch = LoopWatch(count: 1, exitMs: 4_000)
        #expect(verdicts(&watch, [[1], [1], [1], [2], [2], [2]]).last == .standing)
        #expect(watch.look([3], nowMs: 6_000) == .turning)
    }

    @Test func withoutALimitTheProcessStays() {
        var watch = LoopWatch(count: 1, exitMs: 0)
        #expect(verdicts(&watch, (0..<100).map { _ in [1] }).last == .standing)
    }

    @Test func aLoopThatNeverBeganIsNotWell() {
        var watch = LoopWatch(count: 2, exitMs: 3_000)
        #expect(verdicts(&watch, [[], [1], [2], [3], [4]]).allSatisfy { $0 == .standing })
    }

    /// A process that was stopped by SIGSTOP for an hour must not end itself when it goes on.
    @Test func timeInWhichTheProcessWasStoppedDoesNotCount() {
        var watch = LoopWatch(count: 1, exitMs: 5_000)
        #expect(watch.look([1], nowMs: 0) == .turning)
        #expect(watch.look([1], nowMs: 3_600_000) == .standing)
        #expect(watch.look([2], nowMs: 3_600_100) == .turning)
    }
}
