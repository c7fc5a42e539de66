import Core
import Testing

@testable import Rights

@Suite struct TopicPatternTests {
    @Test(arguments: [
        ("order:7", "order:7", true), ("order:7", "order:77", false), ("order:7", "order:07", false),
        ("order:7", "orders:7", false), ("order:*", "order:7", true), ("order:*", "order:a:b", true),
        ("order:*", "orders:7", false), ("order:*", "order-x:7", false), ("order:7*", "order:7", true),
        ("order:7*", "order:77", true), ("order:7*", "order:8", false), ("order:7:*", "order:7", false),
        ("order:7:*", "order:7:1", true), ("order:A*", "order:a", false), ("order:a.b*", "order:axb", false),
        ("o:~", "o:~", true), ("o:-*", "o:-1", true),
    ])
    func matchesByBytes(_ pattern: String, _ topic: String, _ matches: Bool) throws {
        let pattern = try #require(TopicPattern(pattern))
        #expect(try pattern.matches(#require(Topic(topic))) == matches)
    }

    @Test(arguments: [
        "", "*", "*:*", ":*", ":", "order", "order*", "or*:1", "order:", "order:**", "order:*x", "order:a*b",
        "*order:1",
        "Order:*", "1o:*", "order:a b", "order:é", "order:e\u{301}*", "order:a?", "order:[a]", "order:a^", "order:\\*",
        "order:{a}*", "order:a\0*", "order:a\r\n", "order:a\u{200b}", "order:%2e", "order:../*", "__keyspace@0__:*",
        "__keyevent@0__:expired", "__sentinel__:hello", "order:1#log", "order:#*", "realtime:order:é", "оrder:*",
        "\u{202e}order:*", " order:*", "order:* ", "order:\t*",
    ])
    func refusesEverythingElse(_ text: String) {
        #expect(TopicPattern(text) == nil)
    }

    @Test func lengthsAtTheLimit() {
        let id = String(repeating: "x", count: 200)
        #expect(TopicPattern("o:" + id) != nil)
        #expect(TopicPattern("o:" + id + "*") != nil)
        #expect(TopicPattern("o:" + id + "x") == nil)
        #expect(TopicPattern("o:" + id + "x*") == nil)
        #expect(TopicPattern(String(repeating: "n", count: 33) + ":*") == nil)
        #expect(TopicPattern("o:" + String(repeating: "x", count: 65_536)) == nil)
    }

    @Test(arguments: ["order:7", "order:*", "order:7*"])
    func textIsWhatWasRead(_ text: String) {
        #expect(TopicPattern(text)?.text == Array(text.utf8))
    }
}
