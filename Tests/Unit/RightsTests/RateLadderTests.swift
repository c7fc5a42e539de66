import TestSupport
import Testing

@testable import Rights

@Suite struct RateLadderTests {
    /// A ladder with its limit.
    private struct Limited {
        let limit: RateLimit
        var ladder: RateLadder

        mutating func take(nowMs: Int) -> RateLadder.Step { ladder.take(of: limit, nowMs: nowMs) }
        func delayMs(nowMs: Int) -> Int { ladder.delayMs(of: limit, nowMs: nowMs) }
    }

    private func ladder(_ perSecond: Int, burst: Int) -> Limited {
        let limit = RateLimit(perSecond: perSecond, burst: burst)
        return Limited(limit: limit, ladder: RateLadder(limit, nowMs: 0))
    }

    @Test func aBurstIsServedWithOneWarning() {
        var ladder = ladder(50, burst: 100)
        let steps = (0..<100).map { _ in ladder.take(nowMs: 0) }
        #expect(steps.count { $0 == .serve } == 99)
        // Twenty left of a hundred is a fifth.
        #expect(steps[79] == .serveAndWarn)
        #expect(ladder.delayMs(nowMs: 0) == 100)
    }

    @Test func emptyIsReadLaterAndWhatWasReadIsRefused() {
        var ladder = ladder(50, burst: 100)
        for _ in 0..<100 { _ = ladder.take(nowMs: 0) }
        #expect(ladder.take(nowMs: 0) == .refuse(retryAfterMs: 20))
        #expect(ladder.delayMs(nowMs: 0) == 100)
        #expect(ladder.delayMs(nowMs: 60) == 0, "a token is there")
        #expect(ladder.take(nowMs: 100) == .serve)
    }

    @Test func whoWaitsAsToldIsNeverRefused() {
        var ladder = ladder(50, burst: 100)
        var now = 0
        var served = 0
        while served < 2_000 {
            if case .refuse = ladder.take(nowMs: now) {
                Issue.record("refused at \(now) ms")
                return
            }
            served += 1
            now += ladder.delayMs(nowMs: now)
        }
        #expect((37_900...38_100).contains(now), "1,900 messages beyond the burst at 50 a second: \(now) ms")
    }

    @Test func aWarningComesOnceInTenSeconds() {
        var ladder = ladder(10, burst: 20)
        var warnedAt: [Int] = []
        for now in stride(from: 0, through: 30_000, by: 50) {
            if ladder.take(nowMs: now) == .serveAndWarn { warnedAt.append(now) }
        }
        #expect(warnedAt.count == 3, "\(warnedAt)")
        for (one, next) in zip(warnedAt, warnedAt.dropFirst()) { #expect(next - one >= 10_000) }
    }

    @Test func aSteadyClientBelowTheRateHearsNothing() {
        var ladder = ladder(50, burst: 100)
        for now in stride(from: 0, to: 60_000, by: 20) { #expect(ladder.take(nowMs: now) == .serve) }
        #expect(ladder.delayMs(nowMs: 60_000) == 0)
    }

    @Test func aRowOfRefusalsIsEndedByAGrant() {
        var ladder = ladder(1, burst: 2).ladder
        for _ in 0..<3 { #expect(ladder.refused(max: 3) == false) }
        ladder.granted()
        for _ in 0..<3 { #expect(ladder.refused(max: 3) == false) }
        #expect(ladder.refused(max: 3) == true)
    }

    /// Whatever comes whenever: never more than burst plus rate is served, a delay ends, and no figure traps.
    @Test func randomTrafficIsHeldToTheRate() {
        let seed: UInt64 = 20_261_101
        var random = Seeded(seed)
        for _ in 0..<50 {
            let rate = Int.random(in: 1...200, using: &random)
            var ladder = ladder(rate, burst: rate * 2)
            var (now, served) = (0, 0)
            for _ in 0..<2_000 {
                now += Int.random(in: 0...40, using: &random)
                if case .refuse(let retryAfterMs) = ladder.take(nowMs: now) {
                    #expect((1...1_000).contains(retryAfterMs), "seed \(seed)")
                } else {
                    served += 1
                }
                #expect((0...1_000).contains(ladder.delayMs(nowMs: now)), "seed \(seed)")
            }
            #expect(served <= rate * 2 + rate * now / 1_000 + 1, "seed \(seed)")
        }
    }
}
