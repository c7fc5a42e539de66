import Configuration
import Core
import RedisLink
import Testing

@testable import Courier

@Suite struct WebhookGapTests {
    private let topic: Topic
    private let patterns = WebhookPatterns(
        WebhookSettings(name: "h", url: "https://x", secretFile: "", topics: ["order:*"]))

    init() throws { topic = try #require(Topic("order:7")) }

    /// A page as the step script replies it, of events with these offsets and times; the receiver's mark is 100.
    private func work(
        done: String, last: Int, _ events: [(offset: Int, timeMs: Int)] = [], before: String = "", _ offset: Int = 0
    ) -> WebhookWork? {
        func text(_ value: String) -> RESPValue { .string(Array(value.utf8)) }
        let entries = events.map { event in
            RESPValue.array([
                text("\(event.offset)-0"),
                .array([text("e"), text("x"), text("d"), text("{}"), text("t"), text("\(event.timeMs)")]),
            ])
        }
        let reply = [
            .integer(3), text("b"), text(done), text("\(last)"), .array(entries), text(before), text("\(offset)"),
        ]
        return WebhookWork(topic, reply: reply, patterns: patterns, sinceMs: 100, wallMs: 5)
    }

    /// Position of a page's gap, the one before it, and its data; then the offsets of its events.
    private func noted(_ work: WebhookWork?) -> [String] {
        guard let work else { return ["no page"] }
        return work.events.map { event in
            guard let after = event.after else { return "\(event.offset)" }
            return "\(after) to \(event.offset) " + String(decoding: event.content, as: UTF8.self)
        }
    }

    @Test func theEndOfAnEpochIsToldBeforeTheNextOne() throws {
        let found = work(done: "0", last: 2, [(1, 200), (2, 200)], before: "a", 17)
        #expect(noted(found) == [#"a 17 to 1 {"missed":null}"#, "1", "2"])
        let gap = try #require(found?.next)
        #expect(gap.id(topic) == "order:7:b:1:gap" && found?.doneOffset == 0)
        let body = String(decoding: gap.body(topic), as: UTF8.self)
        #expect(body.contains(#""epoch":"b","offset":1,"after":{"epoch":"a","offset":17},"data":{"missed":null}}"#))
        // The epoch has no events yet, and its first ones may be gone.
        #expect(noted(work(done: "0", last: 0, before: "a", 17)) == [#"a 17 to 1 {"missed":null}"#])
        #expect(noted(work(done: "0", last: 6, [(5, 200)], before: "a", 17)) == [#"a 17 to 5 {"missed":null}"#, "5"])
    }

    @Test func aHoleInAnEpochIsCounted() {
        #expect(noted(work(done: "3", last: 9, [(7, 50), (8, 50)])) == [#"b 3 to 7 {"missed":3}"#, "7", "8"])
        #expect(noted(work(done: "3", last: 9)) == [#"b 3 to 10 {"missed":6}"#])
    }

    @Test func aTopicThatTheReceiverHadNothingOfIsOwedFromTheMark() {
        #expect(noted(work(done: "-", last: 3, [(1, 90), (2, 100), (3, 90)])) == ["2", "3"], "a slow gateway's clock")
        #expect(noted(work(done: "-", last: 4, [(3, 90), (4, 100)])) == ["4"], "what is gone is older than the mark")
        #expect(noted(work(done: "-", last: 4, [(3, 100)])) == [#"b 0 to 3 {"missed":2}"#, "3"])
        #expect(noted(work(done: "-", last: 4)) == [#"b 0 to 5 {"missed":4}"#], "the log is gone")
    }

    @Test(arguments: [0, 2, 6]) func aReplyThatIsNoPageIsNone(left: Int) {
        let reply = (0..<left).map { RESPValue.integer($0) }
        #expect(WebhookWork(topic, reply: reply, patterns: patterns, sinceMs: 0, wallMs: 0) == nil)
        #expect(work(done: "0", last: 2, before: "a", Int.max) == nil)
    }
}
