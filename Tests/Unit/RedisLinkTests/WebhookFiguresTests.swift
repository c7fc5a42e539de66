import Core
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

    /// Each receiver was a call of its own, and each call read the whole hash.
    @Test func oneCallWritesAllReceiversOfACourierAndAnotherRemovesThem() {
        let (keys, courier) = (Keys(prefix: []), Array("c1".utf8))
        let call = WebhookFigures.call(keys, courier: courier, [("one", Self.fine), ("two", Self.away)])
        let words = call.arguments
        #expect(words.first == Array("EVAL".utf8) && words[3] == Array("#webhook-figures".utf8))
        #expect(words.suffix(4) == [Array("one c1".utf8), Self.fine.text, Array("two c1".utf8), Self.away.text])
        let removal = WebhookFigures.removal(keys, courier: courier, of: ["one", "two"])
        #expect(removal.arguments == ["HDEL", "#webhook-figures", "one c1", "two c1"].map { Array($0.utf8) })
    }

    @Test func twoCouriersAreAddedUpAndTheLaterFailureCounts() {
        let sum = Self.fine + Self.away
        #expect((sum.busy, sum.waiting, sum.isAway) == (3, 4, true))
        #expect(sum.reason == "status 503" && sum.oldestMs == 35_000)
    }
}
