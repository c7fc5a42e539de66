import Core
import RedisLink
import Rights
import Testing

@testable import Worker

/// Which topics a reset ends, and how it goes on after failures.
@Suite struct EpochSweepTests {
    private func sweep(_ patterns: [String] = [], prefix: String = "", nowMs: Int = 0) -> EpochSweep {
        var sweep = EpochSweep(
            patterns: patterns.compactMap { TopicPattern($0) }, keys: Keys(prefix: Array(prefix.utf8)), pauseMs: 40,
            nowMs: nowMs)
        sweep.connected(life: Array("one".utf8), nowMs: nowMs)
        return sweep
    }

    private func page(_ cursor: String, _ names: [String]) -> KeyPage? {
        KeyPage(.array([.string(Array(cursor.utf8)), .array(names.map { .string(Array($0.utf8)) })]))
    }

    /// The topics that a page of these keys leads to.
    private func ended(_ sweep: inout EpochSweep, _ names: [String], cursor: String = "0", nowMs: Int = 1) -> [String] {
        guard case .scan = sweep.next(nowMs: nowMs) else { return ["no scan"] }
        sweep.scanned(page(cursor, names), nowMs: nowMs)
        guard case .end(let topics) = sweep.next(nowMs: nowMs) else { return [] }
        return topics.map(\.description)
    }

    @Test func onlyPositionsOfTopicsThatWereAskedForAreEnded() {
        let names = ["shop:1#meta", "shop:2#meta", "dj:1#meta", "shop:1#log", "#meta", "notes#meta", "shop:#meta"]
        var all = sweep()
        #expect(ended(&all, names) == ["shop:1", "shop:2", "dj:1"])
        var some = sweep(["shop:2", "dj:*"])
        #expect(ended(&some, names) == ["shop:2", "dj:1"])
        var prefixed = sweep(prefix: "a1:")
        #expect(ended(&prefixed, ["a1:shop:1#meta", "shop:2#meta", "a1:#meta"]) == ["shop:1"])
    }

    @Test func aSweepIsManyPagesWithPauses() {
        var sweep = sweep()
        #expect(ended(&sweep, ["shop:1#meta"], cursor: "17") == ["shop:1"])
        sweep.answered(topic(1), .success(.integer(1)), nowMs: 5)
        let early = sweep.next(nowMs: 44)
        #expect(early == .wait && sweep.nextMs == 45)
        let second = sweep.next(nowMs: 45)
        #expect(second == .scan(cursor: Array("17".utf8)))
        sweep.scanned(page("0", []), nowMs: 46)
        let last = sweep.next(nowMs: 86)
        #expect(last == .finished)
        #expect(sweep.figures == EpochSweep.Figures(ended: 1))
    }

    /// Its cursor leads nowhere in the other life, and what it skipped would never have been looked at.
    @Test func aPageThatWasOvertakenByAnotherLifeIsNotTaken() {
        var sweep = sweep()
        let first = sweep.next(nowMs: 1)
        #expect(first == .scan(cursor: Array("0".utf8)))
        sweep.connected(life: Array("two".utf8), nowMs: 2)
        sweep.scanned(page("0", ["shop:1#meta"]), nowMs: 3)
        let again = sweep.next(nowMs: 43)
        #expect(again == .scan(cursor: Array("0".utf8)))
        sweep.scanned(page("0", ["shop:1#meta"]), nowMs: 44)
        let end = sweep.next(nowMs: 44)
        #expect(end == .end([topic(1)]))
    }

    @Test func whatFailedOnTheWayIsCalledAgainAndNothingElse() {
        var sweep = sweep()
        #expect(ended(&sweep, ["shop:1#meta", "shop:2#meta", "shop:3#meta", "shop:4#meta"]).count == 4)
        sweep.answered(topic(1), .success(.integer(1)), nowMs: 2)
        sweep.answered(topic(2), .failure(RedisFailure(.disconnected)), nowMs: 2)
        sweep.answered(topic(3), .failure(RedisFailure(.wrongType)), nowMs: 2)
        sweep.answered(topic(4), .success(.integer(0)), nowMs: 2)
        sweep.connected(life: Array("one".utf8), nowMs: 10)
        let again = sweep.next(nowMs: 50)
        #expect(again == .end([topic(2)]))
        sweep.answered(topic(2), .success(.integer(2)), nowMs: 51)
        let last = sweep.next(nowMs: 91)
        #expect(last == .finished)
        #expect(sweep.figures == EpochSweep.Figures(ended: 1, before: 1, foreign: 1, refused: 1))
        #expect(sweep.refusal?.kind == .disconnected || sweep.refusal?.kind == .wrongType)
    }

    @Test func anotherLifeOfRedisIsLookedThroughFromTheStart() {
        var sweep = sweep()
        #expect(ended(&sweep, ["shop:1#meta"], cursor: "17") == ["shop:1"])
        sweep.answered(topic(1), .failure(RedisFailure(.disconnected)), nowMs: 2)
        sweep.connected(life: Array("two".utf8), nowMs: 60)
        let first = sweep.next(nowMs: 60)
        #expect(first == .scan(cursor: Array("0".utf8)))
    }

    @Test func aRedisThatStaysAwayIsGivenUp() {
        var sweep = sweep()
        var nowMs = 0
        var steps = 0
        while steps < 2_000, sweep.next(nowMs: nowMs) == .scan(cursor: Array("0".utf8)) {
            sweep.scanned(nil, nowMs: nowMs)
            nowMs = sweep.nextMs
            steps += 1
        }
        #expect(steps > 700 && steps < 800)
        let end = sweep.next(nowMs: nowMs)
        #expect(end == .givenUp)
        var never = EpochSweep(patterns: [], keys: Keys(prefix: []), pauseMs: 40, nowMs: 0)
        let waiting = never.next(nowMs: EpochSweep.patienceMs)
        let late = never.next(nowMs: EpochSweep.patienceMs + 1)
        #expect(waiting == .wait && late == .givenUp)
    }

    private func topic(_ number: Int) -> Topic {
        guard let topic = Topic("shop:\(number)") else { preconditionFailure("not a topic") }
        return topic
    }
}
