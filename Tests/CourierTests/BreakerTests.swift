import Testing

@testable import Courier

@Suite struct BreakerTests {
    @Test func itOpensAfterFailuresInARowAndLetsOneRequestGoFirst() {
        var breaker = Breaker(failuresMax: 3, pauseMinMs: 100, pauseMaxMs: 250)
        for _ in 0..<3 {
            #expect(breaker.admits(nowMs: 0))
            breaker.failed(nowMs: 0)
        }
        #expect(breaker.isOpen && breaker.holdMs == 100 && !breaker.admits(nowMs: 99))
        #expect(breaker.admits(nowMs: 100) && !breaker.admits(nowMs: 100), "one request goes first")
        breaker.failed(nowMs: 100)
        #expect(breaker.holdMs == 300)
        #expect(breaker.admits(nowMs: 300))
        breaker.abandoned()
        #expect(breaker.admits(nowMs: 300), "what was not sent leaves its place")
        breaker.failed(nowMs: 300)
        #expect(breaker.holdMs == 550, "the pause is bounded")
        #expect(breaker.admits(nowMs: 550))
        breaker.succeeded()
        #expect(!breaker.isOpen && breaker.admits(nowMs: 550) && breaker.admits(nowMs: 550))
    }

    @Test func aWishToBeLeftAloneIsHeeded() {
        var breaker = Breaker(failuresMax: 3, pauseMinMs: 100, pauseMaxMs: 250)
        breaker.failed(nowMs: 0, retryAfterMs: 5_000)
        #expect(!breaker.admits(nowMs: 4_999) && breaker.admits(nowMs: 5_000))
    }
}
