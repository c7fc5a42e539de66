import Core
import Testing

@testable import Fleet

/// Answers of parts are added up, ordered and cut; texts of other nodes are read with suspicion.
@Suite struct FleetAnswerTests {
    private static func row(_ key: String, _ figures: Int...) -> FleetRow {
        FleetRow(key: Array(key.utf8), figures: figures, content: Array("{\"topic\":\"\(key)\"}".utf8))
    }

    private static func sum(_ question: FleetQuestion, _ parts: FleetAnswer..., rowsMax: Int = 10) -> FleetAnswer {
        var sum = FleetSum(question)
        for part in parts { sum.add(part) }
        return sum.answer(rowsMax: rowsMax, isPartial: false)
    }

    @Test func membersAreAddedUpAndTheLargestRateCounts() {
        let answer = Self.sum(
            FleetQuestion(.topics),
            FleetAnswer(rows: [Self.row("shop:1", 5, 60, 100, 1), Self.row("shop:2", 3, 0, 0, 1)], total: 2),
            FleetAnswer(rows: [Self.row("shop:2", 4, 7, 20, 1), Self.row("shop:3", 6, 1, 1, 1)], total: 2))
        #expect(answer.rows.map(\.figures) == [[7, 7, 20, 2], [6, 1, 1, 1], [5, 60, 100, 1]])
        #expect(answer.total == 4 && !answer.isPartial)
    }

    @Test func theOrderIsTheQuestionsAndTheSmallestAreDropped() {
        let rows = [Self.row("shop:1", 9, 1, 0, 1), Self.row("shop:2", 1, 9, 0, 1), Self.row("shop:3", 5, 5, 0, 1)]
        let answer = Self.sum(FleetQuestion(.topics, order: 1), FleetAnswer(rows: rows, total: 3), rowsMax: 2)
        #expect(answer.rows.map(\.key) == [Array("shop:2".utf8), Array("shop:3".utf8)])
        #expect(answer.total == 3)
    }

    @Test func aTopicThatIsSmallOnEachNodeCountsByItsSum() {
        let parts = (0..<4).map { node in
            FleetAnswer(rows: [Self.row("here:\(node)", 5, 0, 0, 1), Self.row("all:1", 4, 0, 0, 1)], total: 2)
        }
        let answer = Self.sum(FleetQuestion(.topics), parts[0], parts[1], parts[2], parts[3], rowsMax: 1)
        #expect(answer.rows.map(\.figures) == [[16, 0, 0, 4]], "it was first on none of them")
    }

    @Test func sumsThatDoNotFitStayAtTheLargestNumber() {
        let answer = Self.sum(
            FleetQuestion(.topics), FleetAnswer(rows: [Self.row("a", Int.max, 0, 0, 1)], total: Int.max),
            FleetAnswer(rows: [Self.row("a", 1, 0, 0, 1)], total: 1))
        #expect(answer.rows.first?.figures == [Int.max, 0, 0, 2] && answer.total == Int.max)
    }

    @Test func aTextIsReadAsItWasWritten() {
        let answer = FleetAnswer(
            rows: [
                Self.row("shop:1", 5, 60, 100, 1),
                FleetRow(key: Array("a\"\\b".utf8), figures: [0, 0, 0, 0], content: Array("{}".utf8)),
            ],
            total: 7, isPartial: true)
        #expect(FleetAnswer(answer.text, .topics) == answer)
        #expect(FleetAnswer(FleetAnswer().text, .nodes) == FleetAnswer())
        #expect(FleetAnswer(answer.text, .sessions) == nil, "rows of another kind")
    }

    @Test func rowsBeyondTheBytesOfAMessageAreLeftOutAndThatIsKnown() throws {
        let rows = (0..<100).map { number in
            FleetRow(
                key: Array("\(number)".utf8), figures: [0, 0],
                content: Array("{\"x\":\"\(String(repeating: "x", count: 9_000))\"}".utf8))
        }
        let answer = try #require(FleetAnswer(FleetAnswer(rows: rows, total: 100).text, .sessions))
        #expect(answer.isPartial && answer.rows.count < 100 && answer.total == 100)
    }

    @Test(arguments: [
        "", "[", "{}", "[1]", "[1,false]", "[-1,false,[]]", "[1,0,[]]", "[1,false,{}]", "[1,false,[1]]",
        "[1,false,[[\"a\",[1,2,3,4]]]]", "[1,false,[[\"a\",[1,2,3],{}]]]", "[1,false,[[\"a\",[1,2,3,-4],{}]]]",
        "[1,false,[[\"a\",[1,2,3,4.5],{}]]]", "[1,false,[[\"a\",[1,2,3,4],[]]]]", "[1,false,[[1,[1,2,3,4],{}]]]",
        "[99999999999999999999,false,[]]", "[1,false,[]] x",
    ])
    func otherTextsAreRefused(_ text: String) {
        #expect(FleetAnswer(Array(text.utf8), .topics) == nil)
    }

    @Test func anObjectHasTheContentAndTheFigures() {
        let result = FleetResult(
            answer: FleetAnswer(rows: [Self.row("shop:1", 1, 2, 3, 4)]), unanswered: [],
            question: FleetQuestion(.topics))
        var text: [UInt8] = []
        result.appendRows(to: &text)
        let wanted = "[{\"topic\":\"shop:1\",\"members\":1,\"eventsPerMinute\":2,\"bytesPerMinute\":3,\"nodes\":4}]"
        #expect(String(decoding: text, as: UTF8.self) == wanted)
    }
}
