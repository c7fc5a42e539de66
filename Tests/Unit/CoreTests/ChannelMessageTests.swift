import TestSupport
import Testing

@testable import Core

@Suite struct ChannelMessageTests {
    private let bounds = ChannelMessage.Bounds(
        positioned: JSON.Limits(depthMax: 8, elementsMax: 200), positionedBytesMax: 2_000,
        plain: JSON.Limits(depthMax: 8, elementsMax: 100), plainBytesMax: 1_000)

    private func parse(_ text: String) -> ChannelMessage? {
        ChannelMessage.parse(Array(text.utf8), bounds)
    }

    @Test func aPositionedMessageIsRead() {
        let message = parse("Pk3x9 18 queue:update op-1\n{\"n\":1}")
        #expect(message?.position == Position(epoch: Array("k3x9".utf8), offset: 18))
        #expect(message?.event == EventName("queue:update"))
        #expect(message?.id == MessageID(Array("op-1".utf8)))
        #expect(message?.data == Array("{\"n\":1}".utf8))
        #expect(parse("Pk3x9 18 e -\n{}")?.id == nil)
        #expect(parse("Pk3x9 9223372036854775807 e -\n{}")?.position?.offset == Int.max)
        #expect(parse("Pk 1 e -\n{\n \"a\" : 1\n}") != nil, "only the first newline ends the head")
    }

    /// `Tests/Scripts/test_event_format.py` compares the same vectors with what the scripts write.
    @Test func whatScriptsWriteIsRead() throws {
        let vectors = try EventVectors.load()
        #expect(vectors.written.count >= 6)
        for one in vectors.written {
            let message = ChannelMessage(
                position: Position(epoch: Array(one.epoch.utf8), offset: one.offset),
                event: try #require(EventName(one.event)), id: MessageID(Array(one.id.utf8)),
                data: Array(one.data.utf8), origin: EchoExclusion(Array(one.origin.utf8)))
            #expect((message.id == nil) == one.id.isEmpty && (message.origin == nil) == one.origin.isEmpty)
            #expect(parse(one.message) == message && message.position != nil)
        }
        #expect(vectors.refused.count >= 16)
        for text in vectors.refused { #expect(parse(text) == nil, "\(text)") }
        #expect(vectors.reset.map { parse($0)?.event } == [EventName("epoch:reset")])
    }

    @Test func theSessionItCameFromIsRead() {
        #expect(parse("Pk3x9 18 e op-1 s_-9\n{}")?.origin == EchoExclusion(Array("s_-9".utf8)))
        #expect(parse("Pk3x9 18 e op-1 s_-9\n{}")?.id == MessageID(Array("op-1".utf8)))
        #expect(parse("Pk3x9 18 e - s\n{}")?.id == nil)
        #expect(parse("Pk3x9 18 e -\n{}")?.origin == nil)
    }

    @Test func theLongestHeadIsRead() {
        let head = "P" + String(repeating: "e", count: 32) + " 9223372036854775807 " + String(repeating: "n", count: 64)
        #expect(parse(head + " " + String(repeating: "i", count: 128) + "\n{}") != nil)
        #expect(parse(head + " " + String(repeating: "i", count: 129) + "\n{}") == nil)
        let whole = head + " " + String(repeating: "i", count: 128) + " "
        #expect(parse(whole + String(repeating: "o", count: 32) + "\n{}") != nil)
        #expect(parse(whole + String(repeating: "o", count: 33) + "\n{}") == nil)
        #expect(parse("P" + String(repeating: "x", count: 100_000) + "\n{}") == nil)
    }

    @Test(arguments: [
        "", "P", "P\n", "P\n{}", "Pk 1 e -", "Pk 1 e -\n", "Pk 1 e\n{}", "Pk 1 e - x y\n{}", "Pk 1 e - \n{}",
        "Pk 1 e - a.b\n{}", "Pk 1 e -  x\n{}",
        "P 1 e -\n{}", "Pk  e -\n{}",
        "Pk 1  -\n{}", "Pk 1 e \n{}",
        "Pk 0 e -\n{}", "Pk -1 e -\n{}", "Pk +1 e -\n{}", "Pk 01 e -\n{}", "Pk 1.0 e -\n{}",
        "Pk 9223372036854775808 e -\n{}", "P k 1 e -\n{}",
        "Pk 1 a\"b -\n{}", "Pk 1 e a#b\n{}", "Pk 1 e -\r\n{}", "Pk 1 e -\n[]", "Pk 1 e -\n1", "Pk 1 e -\nnull",
        "Pk 1 e -\n{", "Pk 1 e -\n{}{}",
        "Pk 1 e -\n{\"a\":1,\"a\":2}", "Pk.x 1 e -\n{}", "pk 1 e -\n{}", "Pé 1 e -\n{}", "Pk\t1\te\t-\n{}",
    ])
    func anythingElsePositionedIsRefused(_ text: String) {
        #expect(parse(text) == nil)
    }

    @Test func aPlainPublishIsRead() throws {
        let event = try #require(EventName("e"))
        let message = parse("{\"data\":{\"n\":[1, 2]},\"event\":\"e\"}")
        #expect(message == ChannelMessage(position: nil, event: event, id: nil, data: Array("{\"n\":[1, 2]}".utf8)))
        #expect(parse("{\"event\":\"e\"}")?.data == Array("{}".utf8))
        #expect(parse("{\"event\":\"\\u0065\",\"other\":1}\n")?.event == EventName("e"))
    }

    @Test(arguments: [
        "{}", "{\"event\":1}", "{\"event\":\"\"}", "{\"event\":\"a b\"}", "{\"event\":\"e\",\"data\":[]}",
        "{\"event\":\"e\",\"data\":\"x\"}",
        "{\"event\":\"e\",\"data\":null}", "{\"event\":\"e\"", "{\"event\":\"e\"}x",
        "{\"event\":\"e\",\"event\":\"f\"}", " {\"event\":\"e\"}", "[]", "\"e\"", "x",
        "{\"event\":\"e\",\"data\":{\"a\":[[[[[[[1]]]]]]]}}",
    ])
    func anythingElsePlainIsRefused(_ text: String) {
        #expect(parse(text) == nil)
    }

    @Test(arguments: ["gap", "error", "ack", "subscribed", "token:expiring"])
    func aReservedNameIsRefusedInBothForms(_ name: String) {
        #expect(parse("Pk 1 \(name) -\n{}") == nil)
        #expect(parse("{\"event\":\"\(name)\",\"data\":{}}") == nil)
        #expect(parse("{\"event\":\"\(name)\"}") == nil)
        #expect(parse("Pk 1 x\(name) -\n{}") != nil)
    }

    @Test func aReservedNameInEscapesIsRefused() {
        #expect(parse("{\"event\":\"\\u0067ap\"}") == nil)
    }

    @Test func bytesThatAreNotUTF8AreRefusedInBothForms() {
        #expect(
            ChannelMessage.parse(Array("Pk 1 e -\n{\"a\":\"".utf8) + [0xff] + Array("\"}".utf8), bounds) == nil)
        #expect(
            ChannelMessage.parse(
                Array("{\"event\":\"e\",\"data\":{\"a\":\"".utf8) + [0xff] + Array("\"}}".utf8), bounds) == nil)
    }

    /// What scripts write is made of many texts that were taken; it used to be dropped when it had more values than one
    /// of them may have, and a plain publish had no bound in bytes.
    @Test func eachFormHasItsOwnBounds() {
        func values(_ count: Int) -> String { "{\"a\":[" + String(repeating: "1,", count: count - 3) + "1]}" }
        #expect(parse("Pk 1 e -\n" + values(200)) != nil && parse("Pk 1 e -\n" + values(201)) == nil)
        #expect(parse("{\"event\":\"e\",\"data\":\(values(98))}") != nil)
        #expect(parse("{\"event\":\"e\",\"data\":\(values(99))}") == nil)
        func text(_ bytes: Int) -> String { "{\"a\":\"" + String(repeating: "x", count: bytes - 8) + "\"}" }
        #expect(parse("Pk 1 e -\n" + text(2_000)) != nil && parse("Pk 1 e -\n" + text(2_500)) == nil)
        #expect(parse("{\"event\":\"e\",\"data\":\(text(1_000))}") != nil)
        #expect(parse("{\"event\":\"e\",\"data\":\(text(1_001))}") == nil)
        #expect(parse("{\"event\":\"e\",\"other\":\"" + String(repeating: "x", count: 10_000) + "\"}") == nil)
    }

    @Test func dataIsAlwaysOneObject() {
        for seed in UInt64(0)..<4_000 {
            var random = Seeded(seed)
            var bytes = Array(
                (seed % 2 == 0 ? "Pk3 18 q:u op\n{\"n\":[1,{}]}" : "{\"event\":\"e\",\"data\":{\"n\":[1]}}").utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes[place] = UInt8.random(in: 0...127, using: &random)
            }
            guard let message = ChannelMessage.parse(bytes, bounds) else { continue }
            let json = try? JSON(parsing: message.data, limits: bounds.positioned)
            #expect(json?.root.kind == .object, "seed \(seed)")
        }
    }
}
