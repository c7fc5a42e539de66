import Core
import Rights
import Testing

@testable import Fleet

/// Messages between nodes: read as written, and refused when anything differs.
@Suite struct FleetMessageTests {
    private static let question = FleetQuestion(
        .sessions, [.user: Array("ann".utf8), .address: Array("::1".utf8)], order: 1, limit: 20)
    private static let secret = [UInt8](repeating: 7, count: 32)

    private static func place(_ node: String, _ shard: Int) -> FleetSeal.Place {
        FleetSeal.Place(node: Array(node.utf8), shard: shard)
    }

    @Test func messagesAreReadAsWritten() {
        for message in [
            FleetMessage.question(Self.question, number: 5, wallMs: 1_795_000_000_000),
            .question(FleetQuestion(.nodes), number: 1, wallMs: 0), .answer(Array("[0,false,[]]".utf8), number: 9),
            .answer([], number: 0),
        ] {
            #expect(FleetMessage(message.text) == message)
        }
    }

    @Test(arguments: [
        "", "ask", "ask 1 2 nodes 0 1", "ask 1 2 nodes 0 1\n", "ask 1 2 nodes 0 1\n[]", "ask 1 2 nothing 0 1\n{}",
        "ask 1 2 nodes 0 0\n{}", "ask 1 2 nodes 0 501\n{}", "ask 1 2 sessions 2 1\n{}", "ask -1 2 nodes 0 1\n{}",
        "ask 99999999999999999999 2 nodes 0 1\n{}", "ask 1 2 nodes 0 1\n{\"nothing\":\"x\"}",
        "ask 1 2 nodes 0 1\n{\"user\":1}", "answer\n", "answer x\n", "answer 1 2\n", "other 1\n",
    ])
    func otherTextsAreRefused(_ text: String) {
        #expect(FleetMessage(Array(text.utf8)) == nil)
    }

    @Test func aParameterIsBounded() {
        let long = String(repeating: "x", count: FleetQuestion.parameterBytesMax + 1)
        #expect(FleetMessage(Array("ask 1 2 nodes 0 1\n{\"user\":\"\(long)\"}".utf8)) == nil)
    }

    @Test func onlyTheShardThatItIsForOpensAMessage() throws {
        let sender = FleetSeal(secret: Self.secret, own: Self.place("one", 1))
        let message = FleetMessage.question(Self.question, number: 5, wallMs: 3)
        let text = sender.close(message, to: Self.place("two", 0), number: 1)
        #expect(FleetSeal.shard(of: text) == 0)
        let opened = try #require(FleetSeal(secret: Self.secret, own: Self.place("two", 0)).open(text))
        #expect(opened.from == Self.place("one", 1) && FleetMessage(opened.text) == message)
        for (secret, place) in [
            (Self.secret, Self.place("two", 1)), (Self.secret, Self.place("three", 0)),
            ([UInt8](repeating: 8, count: 32), Self.place("two", 0)),
        ] {
            #expect(FleetSeal(secret: secret, own: place).open(text) == nil)
        }
        #expect(sender.open(sender.close(message, to: Self.place("one", 1), number: 2)) == nil, "its own")
    }

    @Test func anyChangedByteIsNoticed() {
        let sender = FleetSeal(secret: Self.secret, own: Self.place("one", 1))
        let receiver = FleetSeal(secret: Self.secret, own: Self.place("two", 0))
        let text = sender.close(.answer(Array("[0,false,[]]".utf8), number: 1), to: Self.place("two", 0), number: 77)
        #expect(receiver.open(text) != nil)
        for index in text.indices {
            var changed = text
            changed[index] ^= 1
            #expect(receiver.open(changed) == nil, "byte \(index)")
            #expect(receiver.open(Array(text.prefix(index))) == nil)
        }
    }

    @Test(arguments: ["?", "?\n", "? 0 0 1\nx", "?one 0 0\nx", "?one 0 x 1\nx", "?one 9999 0 1\nx", "?one 0 9999 1\nx"])
    func malformedHeadsAreRefused(_ text: String) {
        #expect(FleetSeal.shard(of: Array(text.utf8)) == nil)
        #expect(FleetSeal(secret: Self.secret, own: Self.place("two", 0)).open(Array(text.utf8)) == nil)
    }
}
