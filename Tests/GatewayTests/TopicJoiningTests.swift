import Core
import Dialects
import Reactors
import Testing
import Transport

@testable import Gateway

/// A store that keeps questions until the test answers them, or refuses each one before the call returns.
private final class Reader: TopicReader {
    private(set) var asked: [(topic: Topic, completion: LogRead.Completion)] = []
    var refusesAtOnce = false

    func read(_ topic: Topic, _ order: LogRead.Order, since: Position?, _ completion: @escaping LogRead.Completion) {
        if refusesAtOnce { return completion(.failure(Refusal(.unavailable, "down"))) }
        asked.append((topic, completion))
    }

    func answerOldest(_ result: Result<LogRead.Answer, Refusal>) {
        asked.removeFirst().completion(result)
    }
}

private final class Joiner: TopicClient {
    var (subscribed, refusals, events) = (0, 0, 0)
    var membership: (feed: TopicFeed<Joiner>, place: Int?)?

    func joins(_ feed: TopicFeed<Joiner>) { membership = (feed, nil) }
    func joined(_ feed: TopicFeed<Joiner>, place: Int) { membership = (feed, place) }
    func moved(to place: Int, in feed: TopicFeed<Joiner>) { membership = (feed, place) }
    func refused(_ refusal: Refusal, topic: Topic, ref: Reference?) { refusals += 1 }
    func send(_ message: ServerMessage, ref: Reference?) { if case .subscribed = message { subscribed += 1 } }

    func deliver(_ delivery: Delivery, isOwed: Bool) {
        delivery.counts.countUndeliverable()
        events += 1
    }
}

/// Joins of many at once, when the store refuses from inside the question and when reads wait for their turn.
@Suite struct TopicJoiningTests {
    private final class Shop {
        let reader = Reader()
        let table: TopicTable<Joiner>
        var nowMs = 1_000
        /// Reads that may be under way at once.
        static let readsMax = 1_024

        init() throws {
            let reactor = try Reactor(wake: try Wake())
            let context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(Limits(), reactors: 1))
            var now: () -> Int = { 0 }
            var limits = Limits()
            limits.heldEventsMax = 4
            limits.logReadsMax = Shop.readsMax
            table = TopicTable(
                shard: 0, limits: limits, repairs: true, store: reader,
                broker: Mailbox(capacity: 100_000, wake: try Wake()), dialects: [],
                statistics: ShardStatistics(transport: context.statistics, loop: reactor.statistics), nowMs: { now() })
            now = { [unowned self] in nowMs }
        }

        func topic(_ number: Int) throws -> Topic { try #require(Topic("shop:\(number)")) }

        func join(_ number: Int) throws -> Joiner {
            let joiner = Joiner()
            table.join(joiner, SubscribeRequest(topic: try topic(number), since: nil), ref: nil)
            return joiner
        }

        func answer(_ offset: Int) throws {
            let position = try #require(Position(epoch: Array("a".utf8), offset: offset))
            reader.answerOldest(.success(LogRead.Answer(position: position, events: [], state: nil)))
        }
    }

    @Test func aStoreThatRefusesAtOnceRefusesAllWhoWait() throws {
        let shop = try Shop()
        let joiners = try (0..<3).map { _ in try shop.join(1) }
        shop.reader.refusesAtOnce = true
        shop.table.confirmed(try shop.topic(1))
        #expect(joiners.map(\.refusals) == [1, 1, 1])
        shop.reader.refusesAtOnce = false
        let later = try (0..<2).map { _ in try shop.join(1) }
        try shop.answer(7)
        // The second came when the first had been asked for.
        try shop.answer(7)
        #expect(later.map(\.subscribed) == [1, 1] && later.map(\.membership?.place) == [0, 1])
        #expect(shop.table.report(try shop.topic(1)).isBalanced)
    }

    /// Each used to be refused from inside the refusal of the one before, which the stack of a thread does not hold.
    @Test func aLinkThatGoesDownRefusesHoweverManyReadsWait() throws {
        let shop = try Shop()
        let joiners = try (0..<30_000).map { number in
            let joiner = try shop.join(number)
            shop.table.confirmed(try shop.topic(number))
            return joiner
        }
        #expect(shop.reader.asked.count == Shop.readsMax)
        shop.reader.refusesAtOnce = true
        while !shop.reader.asked.isEmpty { shop.reader.answerOldest(.failure(Refusal(.unavailable, "down"))) }
        #expect(joiners.allSatisfy { $0.refusals == 1 })
    }

    /// The same for reads that are over when their turn comes.
    @Test func readsThatAreOverPassTheirTurnHoweverManyTheyAre() throws {
        let shop = try Shop()
        for number in 0..<30_000 {
            _ = try shop.join(number)
            shop.table.confirmed(try shop.topic(number))
        }
        shop.table.lost()
        try shop.answer(1)
        #expect(shop.reader.asked.count == Shop.readsMax - 1)
        shop.table.confirmed(try shop.topic(29_999))
        #expect(shop.reader.asked.count == Shop.readsMax)
    }

    @Test func eventsDoNotTakeAJoinsTurnAway() throws {
        let shop = try Shop()
        for number in 0..<Shop.readsMax {
            _ = try shop.join(number)
            shop.table.confirmed(try shop.topic(number))
        }
        let busy = try shop.topic(Shop.readsMax)
        let joiner = try shop.join(Shop.readsMax)
        shop.table.confirmed(busy)
        _ = try shop.join(Shop.readsMax + 1)
        shop.table.confirmed(try shop.topic(Shop.readsMax + 1))
        let event = try #require(EventName("e"))
        for offset in 1...20 {
            let position = try #require(Position(epoch: Array("a".utf8), offset: offset))
            shop.table.received(busy, ChannelMessage(position: position, event: event, id: nil, data: []))
        }
        try shop.answer(0)
        #expect(shop.reader.asked.last?.topic == busy, "who came first is asked for first")
        while shop.reader.asked.first?.topic != busy { try shop.answer(0) }
        try shop.answer(20)
        #expect(joiner.subscribed == 1 && joiner.events == 0)
    }

    @Test func whoWaitsTooLongIsRefusedOnceAndWhoCameLaterWaitsOn() throws {
        let shop = try Shop()
        let limits = Limits()
        let early = try (0..<1_000).map { _ in try shop.join(1) }
        shop.nowMs += 500
        let late = try shop.join(1)
        shop.nowMs += limits.redisConnectMs + 2 * limits.redisCommandMs - 500
        shop.table.sweep()
        #expect(early.allSatisfy { $0.refusals == 1 } && late.refusals == 0)
        shop.table.confirmed(try shop.topic(1))
        try shop.answer(3)
        #expect(late.subscribed == 1 && late.membership?.place == 0)
    }
}
