import Testing

@testable import Core

@Suite struct TopicTests {
    @Test(arguments: ["shop:42", "a:b", "order-2:A.b_c~d:e-f", "user:" + String(repeating: "x", count: 200)])
    func acceptsTheGrammar(_ text: String) {
        let topic = Topic(text)
        #expect(topic?.description == text)
        #expect(topic.map { Array($0.namespace) } == Array(text.split(separator: ":")[0].utf8))
    }

    @Test(arguments: [
        "", ":", "shop", "shop:", ":42", "Shop:42", "1shop:42", "shop:a b", "shop:a/b", "shop:é", "shop:e\u{301}",
        "shop:a\0b",
        "shop:a\r\n", "shop:*", "shop:a?", "shop:[a]", "shop:{a}", "__keyspace@0__:x", "__keyevent@0__:expired",
        "__sentinel__:hello", "shop:a#log", "shop:\u{200b}", "ѕhop:1", "shop:..%2e/x", " shop:1",
        "shop:" + String(repeating: "x", count: 201), String(repeating: "n", count: 33) + ":1",
    ])
    func refusesEverythingElse(_ text: String) {
        #expect(Topic(text) == nil)
    }
}
