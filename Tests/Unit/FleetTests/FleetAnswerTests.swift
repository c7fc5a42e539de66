import Core
import Testing

@testable import Fleet

/// Answers of parts are added up, ordered and cut; texts of other nodes are read with suspicion.
@Suite struct FleetAnswerTests {
    private static func row(_ key: String, _ figures: Int...) -> FleetRow {
        FleetRow(key: Array(key.utf8), figures: figures, content: Array("{\"topic\":\"\(key)\"}".utf8))
    }

    private static func sum(
        _ question: FleetQuestion, _ parts: FleetAnswer..., rowsMax: Int = 10, ofNodes: Bool = true
    ) -> FleetAnswer {
        var sum = FleetSum(question, ofNodes: ofNodes)
        for part in parts { sum.add(part) }
        return sum.answer(rowsMax: rowsMax)
    }

    /// The answer of a part that has these topics, each with one member.
    private static func topics(_ names: some Sequence<String>) -> FleetAnswer {
        var answer = FleetAnswer(rows: names.prefix(10).map { row($0, 1, 0, 0, 1) }, total: names.underestimatedCount)
        answer.names = DistinctCount(names: names.map { DistinctCount.hash($0.utf8) })
        return answer
    }

    @Test func membersAreAddedUpAndTheLargestRateCounts() {
        let answer = Self.sum(
            FleetQuestion(.topics),
            FleetAnswer(rows: [Self.row("shop:1", 5, 60, 100, 1), Self.row("shop:2", 3, 0, 0, 1)], total: 2),
            FleetAnswer(rows: [Self.row("shop:2", 4, 7, 20, 1), Self.row("shop:3", 6, 1, 1, 1)], total: 2))
        #expect(answer.rows.map(\.figures) == [[7, 7, 20, 2], [6, 1, 1, 1], [5, 60, 100, 1]])
    }

    /// A topic on both shards of a node counted as two nodes, and twice in the total.
    @Test func nodesAreCountedNotShardsAndATopicOnce() throws {
        let shards = (Self.topics(["shop:1", "shop:2"]), Self.topics(["shop:2", "shop:3"]))
        let node = Self.sum(FleetQuestion(.topics), shards.0, shards.1, ofNodes: false)
        #expect(node.total == 3)
        #expect(node.rows.first { $0.key.elementsEqual("shop:2".utf8) }?.figures == [2, 0, 0, 1])
        let read = try #require(FleetAnswer(node.text, .topics))
        let all = Self.sum(FleetQuestion(.topics), node, read, Self.topics(["shop:4"]))
        #expect(all.total == 4)
        #expect(all.rows.first { $0.key.elementsEqual("shop:2".utf8) }?.figures == [4, 0, 0, 2])
        #expect(all.rows.first { $0.key.elementsEqual("shop:4".utf8) }?.figures == [1, 0, 0, 1])
    }

    @Test func manyTopicsAreCountedAboutRight() {
        let parts = (0..<4).map { part in Self.topics((part * 2_000..<part * 2_000 + 4_000).map { "shop:\($0)" }) }
        let answer = Self.sum(FleetQuestion(.topics), parts[0], parts[1], parts[2], parts[3])
        #expect((9_000...11_000).contains(answer.total), "they have 10,000 different topics: \(answer.total)")
        #expect(answer.names.hashes.count == DistinctCount.hashesMax)
        var counter = DistinctCounter()
        for _ in 0..<2 { for number in 0..<10_000 { counter.add("shop:\(number)".utf8) } }
        #expect(counter.count == answer.names, "it keeps the same hashes")
    }

    /// Sessions that had ended on one node took the places of open ones on another, which nobody saw then.
    @Test func openSessionsStandBeforeEndedOnesAndTheNewestEndsFollow() {
        let open = 1 << 48
        let answer = Self.sum(
            FleetQuestion(.sessions, limit: 4),
            FleetAnswer(rows: [Self.row("a.0.1", 1_700, 0, 0), Self.row("a.0.2", 1_800, 0, 0)], total: 2),
            FleetAnswer(rows: [Self.row("z.0.1", open, 0, 0), Self.row("z.0.2", open + 9, 9, 5)], total: 2),
            FleetAnswer(rows: [Self.row("m.0.1", 1_750, 0, 0)], total: 1), rowsMax: 4)
        #expect(answer.rows.map { String(decoding: $0.key, as: UTF8.self) } == ["z.0.2", "z.0.1", "a.0.2", "m.0.1"])
        #expect(answer.total == 5)
    }

    @Test func theOrderIsTheQuestionsAndTheSmallestAreDropped() {
        let rows = [Self.row("shop:1", 9, 1, 0, 1), Self.row("shop:2", 1, 9, 0, 1), Self.row("shop:3", 5, 5, 0, 1)]
        let answer = Self.sum(FleetQuestion(.topics, order: 1), FleetAnswer(rows: rows, total: 3), rowsMax: 2)
        #expect(answer.rows.map(\.key) == [Array("shop:2".utf8), Array("shop:3".utf8)])
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
        #expect(answer.rows.first?.figures == [Int.max, 0, 0, 2])
        let parts = (FleetAnswer(total: Int.max), FleetAnswer(total: 1))
        #expect(Self.sum(FleetQuestion(.sessions), parts.0, parts.1).total == Int.max)
    }

    @Test func aTextIsReadAsItWasWritten() {
        var answer = FleetAnswer(
            rows: [
                Self.row("shop:1", 5, 60, 100, 1),
                FleetRow(key: Array("a\"\\b".utf8), figures: [0, 0, 0, 0], content: Array("{}".utf8)),
            ],
            total: 7)
        answer.fault = .busy
        answer.isTruncated = true
        answer.names = DistinctCount(names: [9, 3, 3, 7])
        #expect(FleetAnswer(answer.text, .topics) == answer)
        #expect(FleetAnswer(FleetAnswer().text, .nodes) == FleetAnswer())
        #expect(FleetAnswer(answer.text, .sessions) == nil, "rows of another kind")
    }

    @Test func rowsBeyondTheBytesOfAMessageAreLeftOutAndThatIsKnown() throws {
        let rows = (0..<100).map { number in
            FleetRow(
                key: Array("\(number)".utf8), figures: [0, 0, 0],
                content: Array("{\"x\":\"\(String(repeating: "x", count: 9_000))\"}".utf8))
        }
        let answer = try #require(FleetAnswer(FleetAnswer(rows: rows, total: 100).text, .sessions))
        #expect(answer.isTruncated && answer.fault == nil && answer.rows.count < 100 && answer.total == 100)
    }

    @Test(arguments: [
        "", "[", "{}", "[1]", "[1,null,false,[]]", "[-1,null,false,[],[]]", "[1,null,0,[],[]]", "[1,null,false,[],{}]",
        "[1,null,false,{},[]]", "[1,null,false,[],[1]]", "[1,\"x\",false,[],[]]", "[1,0,false,[],[]]",
        "[1,null,false,[-1],[]]", "[1,null,false,[2,1],[]]", "[1,null,false,[1,1],[]]", "[1,null,false,[\"a\"],[]]",
        "[1,null,false,[9007199254740992],[]]", "[1,null,false,[],[[\"a\",[1,2,3,4]]]]",
        "[1,null,false,[],[[\"a\",[1,2,3],{}]]]", "[1,null,false,[],[[\"a\",[1,2,3,-4],{}]]]",
        "[1,null,false,[],[[\"a\",[1,2,3,4.5],{}]]]", "[1,null,false,[],[[\"a\",[1,2,3,4],[]]]]",
        "[1,null,false,[],[[1,[1,2,3,4],{}]]]", "[99999999999999999999,null,false,[],[]]", "[1,null,false,[],[]] x",
    ])
    func otherTextsAreRefused(_ text: String) {
        #expect(FleetAnswer(Array(text.utf8), .topics) == nil)
    }

    @Test func anObjectHasTheContentAndTheFigures() {
        let result = FleetResult(
            answer: FleetAnswer(rows: [Self.row("shop:1", 1, 2, 3, 4)]), question: FleetQuestion(.topics))
        var text: [UInt8] = []
        result.appendRows(to: &text)
        let wanted = "[{\"topic\":\"shop:1\",\"members\":1,\"eventsPerMinute\":2,\"bytesPerMinute\":3,\"nodes\":4}]"
        #expect(String(decoding: text, as: UTF8.self) == wanted)
        let sessions = FleetResult(
            answer: FleetAnswer(rows: [Self.row("a.0.1", 1, 2, 3)]), question: FleetQuestion(.sessions))
        text = []
        sessions.appendRows(to: &text)
        let session = "[{\"topic\":\"a.0.1\",\"queuedBytes\":2,\"waitingMs\":3}]"
        #expect(String(decoding: text, as: UTF8.self) == session, "the rank orders rows and is not shown")
    }

    /// A hostile node may send what it likes: nothing of it may trap, or outgrow its bounds.
    @Test func moreHashesOrRowsThanAllowedAreRefused() {
        let hashes = (0...DistinctCount.hashesMax).map { "\($0)" }.joined(separator: ",")
        #expect(FleetAnswer(Array("[1,null,false,[\(hashes)],[]]".utf8), .topics) == nil)
        let rows = Array(repeating: "[\"a\",[1,2,3,4],{}]", count: 2_001).joined(separator: ",")
        #expect(FleetAnswer(Array("[1,null,false,[],[\(rows)]]".utf8), .topics) == nil)
        let deep = String(repeating: "[", count: 5_000)
        #expect(FleetAnswer(Array("[1,null,false,[],\(deep)".utf8), .topics) == nil)
        #expect(FleetAnswer([UInt8](repeating: UInt8(ascii: " "), count: 2 * FleetAnswer.bytesMax + 1), .nodes) == nil)
    }
}
