import Core
import Testing

@testable import Fleet

/// A question ends with the last answer or with its time, and names the nodes that are missing, with the cause.
@Suite struct FleetGatheringTests {
    private static let (own, other) = (Array("own".utf8), Array("other".utf8))
    private let question = FleetQuestion(.nodes)

    private final class Caller {
        var results: [FleetResult] = []
    }

    private static func answer(_ key: String, _ fault: FleetFault? = nil, isTruncated: Bool = false) -> FleetAnswer {
        var answer = FleetAnswer(rows: [FleetRow(key: Array(key.utf8), content: Array("{}".utf8))], total: 1)
        (answer.fault, answer.isTruncated) = (fault, isTruncated)
        return answer
    }

    private func begin(_ gathering: inout FleetGathering, _ caller: Caller) -> Int {
        gathering.begin(question, .nodes([Self.own, Self.other]), rowsMax: 10, deadlineMs: 250) {
            caller.results.append($0)
        }
    }

    @Test func allAnswersEndIt() {
        var gathering = FleetGathering()
        let caller = Caller()
        let number = begin(&gathering, caller)
        #expect(gathering.answered(number, by: .node(Self.other), .success(Self.answer("b"))) == nil)
        gathering.answered(number, by: .node(Self.own), .success(Self.answer("a")))?.complete()
        #expect(caller.results.map(\.answer.rows.count) == [2] && caller.results.first?.unanswered == [])
        #expect(gathering.count == 0 && gathering.nextMs == nil)
    }

    @Test func itsTimeEndsItAndNamesTheMissing() {
        var gathering = FleetGathering()
        let caller = Caller()
        let number = begin(&gathering, caller)
        _ = gathering.answered(number, by: .node(Self.own), .success(Self.answer("a")))
        #expect(gathering.expire(nowMs: 249).isEmpty && gathering.nextMs == 250)
        for finished in gathering.expire(nowMs: 250) { finished.complete() }
        #expect(caller.results.first?.missing == [Self.other: .silent])
        let late = gathering.answered(number, by: .node(Self.other), .success(Self.answer("late")))
        #expect(late == nil && caller.results.count == 1)
    }

    @Test func aShardThatIsMissingIsAFaultOfItsNode() {
        var gathering = FleetGathering()
        let caller = Caller()
        for fault in [FleetFault.busy, .silent] {
            let number = gathering.begin(question, .shards(0..<2), rowsMax: 10, deadlineMs: 250) {
                caller.results.append($0)
            }
            _ = gathering.answered(number, by: .shard(0), .success(Self.answer("a")))
            if fault == .busy { gathering.answered(number, by: .shard(1), .failure(.busy))?.complete() }
            for finished in gathering.expire(nowMs: 250) { finished.complete() }
            #expect(caller.results.last?.answer == Self.answer("a", fault), "its rows count all the same")
        }
    }

    /// A node that had refused, or whose rows did not fit, was listed as one that hangs.
    @Test func theCauseIsNamedAndCutRowsAreNoFault() {
        var gathering = FleetGathering()
        let caller = Caller()
        let (cut, shard) = (Array("cut".utf8), Array("shard".utf8))
        let number = gathering.begin(
            question, .nodes([Self.own, Self.other, cut, shard]), rowsMax: 10, deadlineMs: 250
        ) { caller.results.append($0) }
        _ = gathering.answered(number, by: .node(Self.own), .failure(.gone))
        _ = gathering.answered(number, by: .node(Self.other), .failure(.busy))
        _ = gathering.answered(number, by: .node(cut), .success(Self.answer("c", isTruncated: true)))
        gathering.answered(number, by: .node(shard), .success(Self.answer("s", .silent)))?.complete()
        let result = caller.results.first
        #expect(result?.reasons.map(\.word) == ["busy", "not_listening", "no_answer"])
        #expect(result?.unanswered == [Self.other, Self.own, shard] && result?.answer.isTruncated == true)
        #expect(result?.incomplete == [cut, Self.other, Self.own, shard], "for answers that must be whole")
        #expect(result?.answer.rows.count == 2)
    }

    @Test func noPartAnswersTwiceAndStrangersDoNotAnswer() {
        var gathering = FleetGathering()
        let caller = Caller()
        let number = begin(&gathering, caller)
        for _ in 0..<3 { _ = gathering.answered(number, by: .node(Self.other), .success(Self.answer("b"))) }
        _ = gathering.answered(number, by: .node(Array("stranger".utf8)), .success(Self.answer("c")))
        _ = gathering.answered(number, by: .node(Array("stranger".utf8)), .failure(.busy))
        _ = gathering.answered(number, by: .shard(0), .success(Self.answer("c")))
        _ = gathering.answered(number + 1, by: .node(Self.own), .success(Self.answer("d")))
        #expect(gathering.kind(of: number, awaiting: .node(Self.other)) == nil)
        #expect(gathering.kind(of: number, awaiting: .node(Self.own)) == .nodes)
        for finished in gathering.expire(nowMs: 250) { finished.complete() }
        #expect(caller.results.first?.answer.total == 1 && caller.results.first?.unanswered == [Self.own])
    }

    @Test func aQuestionThatConcernsNoShardHasAnAnswerAtOnce() {
        var gathering = FleetGathering()
        let caller = Caller()
        let number = gathering.begin(question, .shards(0..<0), rowsMax: 10, deadlineMs: 250) {
            caller.results.append($0)
        }
        gathering.finishIfWhole(number)?.complete()
        #expect(caller.results.map(\.answer) == [FleetAnswer()])
    }

    @Test func callersThatAskTheSameWaitTogether() {
        var gathering = FleetGathering()
        let caller = Caller()
        _ = begin(&gathering, caller)
        let joined = gathering.join(question) { caller.results.append($0) }
        let isOther = gathering.join(FleetQuestion(.topics)) { caller.results.append($0) }
        #expect(joined && !isOther)
        for finished in gathering.expire(nowMs: 250) { finished.complete() }
        #expect(caller.results.count == 2)
        _ = gathering.begin(question, .shards(0..<2), rowsMax: 10, deadlineMs: 250) { caller.results.append($0) }
        let alone = gathering.join(question) { caller.results.append($0) }
        #expect(!alone, "the part of one node is no answer")
        let action = FleetQuestion(.forget, [.user: Self.own])
        _ = gathering.begin(action, .nodes([Self.own]), rowsMax: 10, deadlineMs: 250) { caller.results.append($0) }
        let acted = gathering.join(action) { caller.results.append($0) }
        #expect(!acted, "an action is done for each caller")
    }

    @Test func anAnswerIsSharedForAMoment() {
        let result = FleetResult(answer: FleetAnswer(total: 3), question: question)
        var recent = RecentAnswers()
        recent.keep(result, nowMs: 1_000)
        #expect(recent.answer(question, nowMs: 1_000 + RecentAnswers.lifeMs - 1) == result)
        #expect(recent.answer(question, nowMs: 1_000 + RecentAnswers.lifeMs) == nil)
        #expect(recent.answer(FleetQuestion(.nodes, limit: 3), nowMs: 1_000) == nil)
        recent.drop(nowMs: 1_000 + RecentAnswers.lifeMs)
        #expect(recent.endMs == nil)
        for number in 0..<40 {
            recent.keep(
                FleetResult(answer: FleetAnswer(), question: FleetQuestion(.nodes, limit: number + 1)), nowMs: 2_000)
        }
        #expect(recent.answer(FleetQuestion(.nodes, limit: 1), nowMs: 2_000) == nil, "the oldest went")
        #expect(recent.answer(FleetQuestion(.nodes, limit: 40), nowMs: 2_000) != nil)
    }
}
