import RedisLink
import Testing

/// Which clock is wrong, by the offsets from Redis's that processes tell of themselves.
struct ClockVerdictTests {
    private static let hour = 3_600_000
    private static let day = 86_400_000

    private func verdict(_ own: Int, _ others: Int...) -> ClockVerdict {
        ClockVerdict(own: own, others: others, boundMs: 5_000)
    }

    @Test(arguments: [-ClockVerdictTests.hour, ClockVerdictTests.day])
    func oneClockThatIsAwayIsToldByItsOwnProcessAlone(_ away: Int) {
        #expect(verdict(away, 3, -20) == .alone)
        #expect(verdict(away, 3) == .alone, "redis and the other decide")
        #expect(verdict(3, away, -20) == .right)
        #expect(verdict(3, away) == .right)
    }

    @Test(arguments: [-ClockVerdictTests.hour, ClockVerdictTests.day])
    func whereAllAgreeButRedisItIsRedis(_ away: Int) {
        #expect(verdict(away, away + 20) == .redisIsWrong)
        #expect(verdict(away, away + 20, away - 7) == .redisIsWrong)
        #expect(verdict(away, away + 20, away - 7).followsOwn)
    }

    @Test func nobodyDecidesBetweenTwoClocksAlone() {
        #expect(verdict(ClockVerdictTests.hour) == .undecided)
        #expect(verdict(ClockVerdictTests.hour, -ClockVerdictTests.hour) == .undecided)
        #expect(!verdict(ClockVerdictTests.hour).followsOwn, "redis is followed")
    }

    /// Whoever writes to Redis could make entries: they cannot move a process to a third time.
    @Test func forgedEntriesChooseBetweenTheOwnClockAndRedisAtMost() {
        let day = ClockVerdictTests.day
        #expect(verdict(0, day, day, day) == .othersAreWrong)
        #expect(!verdict(0, day, day, day).followsOwn)
        #expect(!verdict(ClockVerdictTests.hour, day, day, day).followsOwn)
        #expect(verdict(Int.min, Int.max) == .undecided, "no difference may trap")
    }

    @Test func theBoundCountsAsEqual() {
        #expect(verdict(5_000, 0) == .right)
        #expect(verdict(5_001, 0) == .alone)
        #expect(verdict(-5_000) == .right)
    }
}
