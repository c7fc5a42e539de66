import Core
import Testing

@testable import Fleet

/// Messages between nodes: read as written, and refused when anything differs.
@Suite struct FleetMessageTests {
    private static let question = FleetQuestion(
        .sessions, [.user: Array("ann".utf8), .address: Array("::1".utf8)], order: 1, limit: 20)
    @Test func messagesAreReadAsWritten() {
        for message in [
            FleetMessage.question(Self.question, number: 5, wallMs: 1_795_000_000_000),
            .question(FleetQuestion(.nodes), number: 1, wallMs: 0), .answer(Array("[0,false,[]]".utf8), number: 9),
            .answer([], number: 0), .refusal(.busy, number: 3), .refusal(.version, number: 0),
        ] {
            #expect(FleetMessage(message.text) == message)
        }
    }

    @Test(arguments: [
        "", "ask", "ask 1 2 nodes 0 1", "ask 1 2 nodes 0 1\n", "ask 1 2 nodes 0 1\n[]", "ask 1 2 nothing 0 1\n{}",
        "ask 1 2 nodes 0 0\n{}", "ask 1 2 nodes 0 501\n{}", "ask 1 2 sessions 3 1\n{}", "ask -1 2 nodes 0 1\n{}",
        "ask 99999999999999999999 2 nodes 0 1\n{}", "ask 1 2 nodes 0 1\n{\"nothing\":\"x\"}",
        "ask 1 2 nodes 0 1\n{\"user\":1}", "answer\n", "answer x\n", "answer 1 2\n", "other 1\n",
        "refuse 1\n", "refuse 1 x\n", "refuse x busy\n", "refuse 1 busy 2\n",
    ])
    func otherTextsAreRefused(_ text: String) {
        #expect(FleetMessage(Array(text.utf8)) == nil)
    }

    @Test func aParameterIsBounded() {
        let long = String(repeating: "x", count: FleetQuestion.parameterBytesMax + 1)
        #expect(FleetMessage(Array("ask 1 2 nodes 0 1\n{\"user\":\"\(long)\"}".utf8)) == nil)
    }

    /// A node that could not read a question was blamed for its silence.
    @Test func theNumberOfAQuestionOfALaterVersionIsKnown() {
        #expect(FleetMessage.number(ofQuestion: Array("ask 17 2 weather 0 1\n{}".utf8)) == 17)
        for text in ["", "ask", "ask x", "answer 1\n", "refuse 1 busy\n"] {
            #expect(FleetMessage.number(ofQuestion: Array(text.utf8)) == nil, "\(text)")
        }
    }
}
