import Testing

@testable import Courier

@Suite struct BreakerTests {
    @Test func itOpensAfterFailuresInARowAndLetsOneRequestGoFirst() {
        var breaker = Breaker(failuresMax: 3, pauseMinMs: 100, pauseMaxMs: 250)
        func admits(_ nowMs: Int) -> Bool { breaker.admits(nowMs: nowMs) }
        for _ in 0..<3 {
            #expect(admits(0))
            breaker.failed(nowMs: 0)
        }
        #expect(breaker.isOpen && breaker.holdMs == 100)
        #expect(!admits(99))
        #expect([admits(100), admits(100)] == [true, false], "one request goes first")
        breaker.failed(nowMs: 100)
        #expect(breaker.holdMs == 300)
        #expect(admits(300))
        breaker.abandoned()
        #expect(admits(300), "what was not sent leaves its place")
        breaker.failed(nowMs: 300)
        #expect(breaker.holdMs == 550, "the pause is bounded")
        #expect(admits(550))
        breaker.succeeded()
        #expect(!breaker.isOpen)
        #expect([admits(550), admits(550)] == [true, true])
    }

    @Test func aWishToBeLeftAloneIsHeeded() {
        var breaker = Breaker(failuresMax: 3, pauseMinMs: 100, pauseMaxMs: 250)
        func admits(_ nowMs: Int) -> Bool { breaker.admits(nowMs: nowMs) }
        breaker.failed(nowMs: 0, retryAfterMs: 5_000)
        #expect([admits(4_999), admits(5_000)] == [false, true])
    }
}
