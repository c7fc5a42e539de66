import Testing

@testable import Topics

/// The rates of a topic are those of a window and the one before.
@Suite struct TopicTrafficTests {
    private static let window = TopicTraffic.windowMs

    @Test func aSteadyTopicHasItsRate() {
        var traffic = TopicTraffic()
        for second in 0..<120 { traffic.count(10, members: 3, nowMs: second * 1_000) }
        let rate = traffic.perMinute(nowMs: 119_999)
        #expect((59...61).contains(rate.events) && (1_780...1_820).contains(rate.bytes))
    }

    @Test func aTopicThatFellSilentHasNone() {
        var traffic = TopicTraffic()
        for _ in 0..<50 { traffic.count(10, members: 1, nowMs: 5_000) }
        #expect(traffic.perMinute(nowMs: 5_000).events > 0)
        #expect(traffic.perMinute(nowMs: Self.window).events > 0)
        #expect(traffic.perMinute(nowMs: 2 * Self.window) == (0, 0))
        traffic.count(10, members: 1, nowMs: 9 * Self.window)
        #expect(traffic.perMinute(nowMs: 9 * Self.window).events == 2, "one in half a minute")
    }
}
