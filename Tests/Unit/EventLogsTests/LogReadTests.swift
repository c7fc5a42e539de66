import Core
import RedisLink
import TestSupport
import Testing

@testable import EventLogs
@testable import Topics

@Suite struct LogReadTests {
    private func message(_ offset: Int) -> ChannelMessage? {
        guard let event = EventName("e".utf8) else { return nil }
        return ChannelMessage(position: Position(epoch: "k".utf8, offset: offset), event: event, id: nil, data: [])
    }

    private func offsets(_ entries: [Int?], _ order: LogRead.Order, upTo top: Int) -> [Int] {
        LogRead.consecutive(entries.map { $0.flatMap(message) }, order, upTo: top).compactMap { $0.position?.offset }
    }

    @Test func theNewestEndAtTheTop() {
        #expect(offsets([3, 4, 5], .newest, upTo: 5) == [3, 4, 5])
        #expect(offsets([3, nil, 5], .newest, upTo: 5) == [5])
        #expect(offsets([2, 4, 5], .newest, upTo: 5) == [4, 5])
        #expect(offsets([3, 4, 5], .newest, upTo: 6) == [])
        #expect(offsets([], .newest, upTo: 5) == [])
    }

    @Test func theOldestBeginWithTheFirstThatIsOne() {
        #expect(offsets([3, 4, 5], .oldest, upTo: 9) == [3, 4, 5])
        #expect(offsets([nil, 4, 5], .oldest, upTo: 9) == [4, 5])
        #expect(offsets([3, nil, 5], .oldest, upTo: 9) == [3])
        #expect(offsets([3, 5], .oldest, upTo: 9) == [3])
        #expect(offsets([3, 4, 5], .oldest, upTo: 4) == [3, 4])
        #expect(offsets([nil, nil], .oldest, upTo: 9) == [])
    }

    /// `Tests/Scripts/test_event_format.py` compares the same vectors with what the scripts read.
    @Test func whatScriptsLoggedIsRead() throws {
        let limits = JSON.Limits(depthMax: 32, elementsMax: 100)
        for one in try EventVectors.load().written {
            let entry = RESPValue.array(one.read.map { .string(Array($0.utf8)) })
            let event = try #require(EventLog.event(entry, epoch: Array(one.epoch.utf8), json: limits))
            #expect(event.position == Position(epoch: Array(one.epoch.utf8), offset: one.offset))
            #expect(event.event == EventName(one.event) && event.data == Array(one.data.utf8))
            #expect(event.id == MessageID(Array(one.id.utf8)) && (event.id == nil) == one.id.isEmpty)
        }
    }

    @Test(arguments: [(2, nil), (3, [4, 5, 6]), (4, [5, 6]), (6, []), (7, nil)] as [(Int, [Int]?)])
    func whatAClientMissedIsThereWholeOrNotAtAll(_ since: Int, _ missed: [Int]?) throws {
        let top = try #require(Position(epoch: "k".utf8, offset: 6))
        let answer = LogRead.Answer(position: top, events: [4, 5, 6].compactMap(message), state: nil)
        let stand = try #require(Position(epoch: "k".utf8, offset: since))
        #expect(answer.missed(since: stand)?.compactMap { $0.position?.offset } == missed)
        let other = try #require(Position(epoch: "l".utf8, offset: since))
        #expect(answer.missed(since: other) == nil)
    }
}

@Suite struct KnownPositionsTests {
    private func topic(_ number: Int) throws -> Topic { try #require(Topic("shop:\(number)")) }
    private func position(_ epoch: String, _ offset: Int) throws -> Position {
        try #require(Position(epoch: epoch.utf8, offset: offset))
    }

    @Test func theHighestPositionOfTheLastEpochIsKnown() throws {
        var known = KnownPositions(capacity: 8)
        let one = try topic(1)
        #expect(known[one] == nil)
        known.add(one, try position("a", 5), published: 1)
        known.add(one, try position("a", 3), published: 1)
        #expect(known[one] == KnownPositions.Entry(position: try position("a", 5), published: 2))
        known.add(one, try position("b", 1))
        #expect(known[one] == KnownPositions.Entry(position: try position("b", 1), published: 2))
    }

    @Test func whatIsUsedStaysAndTheRestIsForgotten() throws {
        var known = KnownPositions(capacity: 8)
        for round in 1...100 {
            known.add(try topic(0), try position("a", round))
            known.add(try topic(round), try position("a", 1))
        }
        #expect(known[try topic(0)]?.position.offset == 100)
        #expect(known[try topic(1)] == nil)
        #expect(known[try topic(100)] != nil)
        let remembered = try (0...100).map(topic).filter { known[$0] != nil }
        #expect(remembered.count <= 8)
    }
}

@Suite struct ReadGateTests {
    final class Feed {}

    @Test func theOthersWaitInTheirOrder() throws {
        var gate = ReadGate<Feed>(inFlightMax: 2)
        let feeds = (0..<4).map { _ in Feed() }
        let entered = [
            gate.enters(feeds[0], for: .joining, 1), gate.enters(feeds[1], for: .repair, 2),
            gate.enters(feeds[2], for: .repair, 3), gate.enters(feeds[3], for: .joining, 4),
        ]
        #expect(entered == [true, true, false, false])
        var next = gate.next()
        #expect(next == nil)
        gate.leaves()
        next = gate.next()
        #expect(next?.0 === feeds[2] && next?.1 == .repair && next?.2 == 3)
        next = gate.next()
        #expect(next == nil)
        gate.leaves()
        gate.leaves()
        next = gate.next()
        #expect(next?.2 == 4)
    }
}

@Suite struct TopicLedgerTests {
    @Test func whatTheFeedAdvancedIsWhatBecameOfTheEvents() throws {
        func at(_ epoch: String, _ offset: Int) throws -> Position {
            try #require(Position(epoch: epoch.utf8, offset: offset))
        }
        var ledger = TopicLedger()
        #expect(ledger.advanced(to: nil) == 0)
        ledger.begins(at: try at("a", 10), after: nil)
        #expect(ledger.advanced(to: try at("a", 17)) == 7)
        ledger.begins(at: try at("b", 0), after: try at("a", 17))
        #expect(ledger.advanced(to: try at("b", 3)) == 10)
        ledger.ends(at: try at("b", 3))
        #expect(ledger.advanced(to: nil) == 10)
        (ledger.figures.came, ledger.figures.repaired, ledger.figures.missed) = (5, 3, 2)
        #expect(ledger.report(members: 0, at: nil).isBalanced)
        ledger.figures.missed = 1
        #expect(!ledger.report(members: 0, at: nil).isBalanced)
    }

    @Test func endedLedgersAreKeptUpToABound() throws {
        var past = PastLedgers(capacity: 2)
        let topics = try (0..<3).map { try #require(Topic("shop:\($0)")) }
        for topic in topics { past.keep(TopicLedger(), of: topic) }
        #expect(past[topics[0]] == nil && past[topics[2]] != nil)
        let taken = past.take(topics[1])
        #expect(taken != nil && past[topics[1]] == nil)
    }
}
