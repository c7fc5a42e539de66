import Testing

@testable import RedisLink

/// Couriers' figures of receivers, read as written and added up.
@Suite struct WebhookFiguresTests {
    private static let away = WebhookFigures(
        busy: 1, waiting: 4, isAway: true, oldestMs: 35_000, failedMs: 1_795_000_000_000, reason: "status 503")
    private static let fine = WebhookFigures(busy: 2, waiting: 0, isAway: false, oldestMs: 0, failedMs: 0, reason: "")

    @Test func aTextIsReadAsItWasWritten() {
        for figures in [Self.away, Self.fine] { #expect(WebhookFigures(figures.text) == figures) }
    }

    @Test(arguments: ["", "1 2 3", "1 2 0 0 0", "x 2 0 0 0 r", "-1 2 0 0 0 r", "1 2 0 0 9999999999999999 r"])
    func otherTextsAreRefused(_ text: String) {
        #expect(WebhookFigures(text.utf8) == nil)
    }

    @Test func twoCouriersAreAddedUpAndTheLaterFailureCounts() {
        let sum = Self.fine + Self.away
        #expect((sum.busy, sum.waiting, sum.isAway) == (3, 4, true))
        #expect(sum.reason == "status 503" && sum.oldestMs == 35_000)
    }
}
