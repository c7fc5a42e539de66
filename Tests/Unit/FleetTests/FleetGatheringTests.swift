import Core
import Testing

@testable import Fleet

/// A question ends with the last answer or with its time, and names the nodes that are missing.
@Suite struct FleetGatheringTests {
    private static let (own, other) = (Array("own".utf8), Array("other".utf8))
    private let question = FleetQuestion(.nodes)

    private final class Heard {
        var results: [FleetResult] = []
    }

    private static func answer(_ key: String, isPartial: Bool = false) -> FleetAnswer {
        FleetAnswer(rows: [FleetRow(key: Array(key.utf8), content: Array("{}".utf8))], total: 1, isPartial: isPartial)
    }

    private func begin(_ gathering: inout FleetGathering, _ heard: Heard, isShared: Bool = true) -> Int {
        gathering.begin(
            question, [.shard(0), .shard(1), .node(Self.other)], rowsMax: 10, isShared: isShared, deadlineMs: 250
        ) {
            heard.results.append($0)
        }
    }

    @Test func allAnswersEndIt() {
        var gathering = FleetGathering(own: Self.own)
        let heard = Heard()
        let number = begin(&gathering, heard)
        #expect(gathering.answered(number, by: .shard(0), Self.answer("a")) == nil)
        #expect(gathering.answered(number, by: .node(Self.other), Self.answer("b")) == nil)
        gathering.answered(number, by: .shard(1), FleetAnswer())?.tell()
        #expect(heard.results.map(\.answer.rows.count) == [2] && heard.results.first?.unanswered == [])
        #expect(gathering.count == 0 && gathering.nextMs == nil)
    }

    @Test func itsTimeEndsItAndNamesTheMissing() {
        var gathering = FleetGathering(own: Self.own)
        let heard = Heard()
        let number = begin(&gathering, heard)
        _ = gathering.answered(number, by: .shard(0), Self.answer("a"))
        #expect(gathering.expire(nowMs: 249).isEmpty && gathering.nextMs == 250)
        for finished in gathering.expire(nowMs: 250) { finished.tell() }
        #expect(heard.results.first?.unanswered == [Self.other, Self.own], "a shard of the own node is missing, too")
        #expect(heard.results.first?.answer.isPartial == true)
        #expect(gathering.answered(number, by: .shard(1), Self.answer("late")) == nil && heard.results.count == 1)
    }

    @Test func aNodeWithAPartMissingIsNamedAndItsRowsCount() {
        var gathering = FleetGathering(own: Self.own)
        let heard = Heard()
        let number = begin(&gathering, heard)
        _ = gathering.answered(number, by: .shard(0), FleetAnswer())
        _ = gathering.answered(number, by: .shard(1), FleetAnswer())
        gathering.answered(number, by: .node(Self.other), Self.answer("b", isPartial: true))?.tell()
        #expect(heard.results.first?.unanswered == [Self.other] && heard.results.first?.answer.rows.count == 1)
    }

    @Test func noPartAnswersTwiceAndStrangersDoNotAnswer() {
        var gathering = FleetGathering(own: Self.own)
        let heard = Heard()
        let number = begin(&gathering, heard)
        for _ in 0..<3 { _ = gathering.answered(number, by: .node(Self.other), Self.answer("b")) }
        _ = gathering.answered(number, by: .node(Array("stranger".utf8)), Self.answer("c"))
        _ = gathering.answered(number + 1, by: .shard(0), Self.answer("d"))
        #expect(gathering.kind(of: number, awaiting: .node(Self.other)) == nil)
        #expect(gathering.kind(of: number, awaiting: .shard(0)) == .nodes)
        for finished in gathering.expire(nowMs: 250) { finished.tell() }
        #expect(heard.results.first?.answer.total == 1)
    }

    @Test func callersThatAskTheSameWaitTogether() {
        var gathering = FleetGathering(own: Self.own)
        let heard = Heard()
        _ = begin(&gathering, heard)
        let joined = gathering.join(question) { heard.results.append($0) }
        let isOther = gathering.join(FleetQuestion(.topics)) { heard.results.append($0) }
        #expect(joined && !isOther)
        for finished in gathering.expire(nowMs: 250) { finished.tell() }
        #expect(heard.results.count == 2)
        _ = begin(&gathering, heard, isShared: false)
        let alone = gathering.join(question) { heard.results.append($0) }
        #expect(!alone, "a question of another node is answered by this node's shards alone")
    }

    @Test func anAnswerIsSharedForAMoment() {
        let result = FleetResult(answer: FleetAnswer(total: 3), unanswered: [], question: question)
        var recent = RecentAnswers()
        recent.keep(result, nowMs: 1_000)
        #expect(recent.answer(question, nowMs: 1_000 + RecentAnswers.lifeMs - 1) == result)
        #expect(recent.answer(question, nowMs: 1_000 + RecentAnswers.lifeMs) == nil)
        #expect(recent.answer(FleetQuestion(.nodes, limit: 3), nowMs: 1_000) == nil)
        recent.drop(nowMs: 1_000 + RecentAnswers.lifeMs)
        #expect(recent.endMs == nil)
        for number in 0..<40 {
            recent.keep(
                FleetResult(answer: FleetAnswer(), unanswered: [], question: FleetQuestion(.nodes, limit: number + 1)),
                nowMs: 2_000)
        }
        #expect(recent.answer(FleetQuestion(.nodes, limit: 1), nowMs: 2_000) == nil, "the oldest went")
        #expect(recent.answer(FleetQuestion(.nodes, limit: 40), nowMs: 2_000) != nil)
    }
}
