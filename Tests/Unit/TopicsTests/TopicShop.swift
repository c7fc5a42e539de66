import Commands
import Connections
import Core
import Dialects
import Reactors
import Testing
import Traces

@testable import Operations
@testable import Topics

/// A store that keeps questions until the test answers them, or refuses each one before the call returns.
final class ScriptedReader: TopicReader {
    private(set) var asked: [(topic: Topic, completion: LogRead.Completion)] = []
    var refusesAtOnce = false
    /// Whether each caller is answered by a read of its own; then whom the reads were for.
    var isPersonal = false
    private(set) var askers: [[UInt8]?] = []

    func read(_ topic: Topic, _ order: LogRead.Order, since: Position?, _ completion: @escaping LogRead.Completion) {
        if refusesAtOnce { return completion(.failure(Refusal(.unavailable, "down"))) }
        asked.append((topic, completion))
    }

    func isPersonal(_ topic: Topic) -> Bool { isPersonal }

    func read(_ topic: Topic, for asker: ReadCaller, since: Position?, _ completion: @escaping LogRead.Completion) {
        askers.append(asker.caller.user)
        read(topic, .newest, since: since, completion)
    }

    func answerOldest(_ result: Result<LogRead.Answer, Refusal>) {
        asked.removeFirst().completion(result)
    }
}

final class Joiner: TopicClient {
    var (subscribed, refusals, events, gaps) = (0, 0, 0, 0)
    /// How many events came with each batch.
    var batches: [Int] = []
    var membership: (feed: LocalTopic<Joiner>, place: Int?)?
    var asker: ReadCaller?

    func joins(_ feed: LocalTopic<Joiner>) { membership = (feed, nil) }
    func joined(_ feed: LocalTopic<Joiner>, place: Int, _ answer: JoinAnswer) { membership = (feed, place) }
    func moved(to place: Int, in feed: LocalTopic<Joiner>) { membership = (feed, place) }
    func refused(_ refusal: Refusal, topic: Topic, ref: Reference?) { refusals += 1 }
    func send(_ message: ServerMessage, ref: Reference?) {
        if case .subscribed = message { subscribed += 1 }
        if case .gap = message { gaps += 1 }
    }

    func deliver(_ delivery: Delivery, isBacklog: Bool) {
        delivery.counts.countUndeliverable()
        events += 1
    }

    func deliver(_ batch: DeliveryBatch) {
        batches.append(batch.deliveries.count)
        for delivery in batch.deliveries { deliver(delivery, isBacklog: false) }
    }
}

/// Takes every request for a channel, and does nothing.
private struct EveryChannel: ChannelInterest {
    func want(_ topic: Topic) -> Bool { false }
    func unwant(_ topic: Topic) {}
}

/// A topic table whose store the test plays, for clients that count.
final class TopicShop {
    let reader = ScriptedReader()
    let table: TopicTable<Joiner>
    var nowMs = 1_000
    /// Reads that may be under way at once.
    static let readsMax = 1_024

    init(sliceMembers: Int = 1_000) throws {
        let reactor = try Reactor(wake: try Wake())
        let context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(Limits(), reactors: 1))
        var now: () -> Int = { 0 }
        var limits = Limits()
        limits.heldEventsMax = 4
        limits.fanoutSliceMembers = sliceMembers
        limits.logReadsMax = TopicShop.readsMax
        table = TopicTable(
            limits: limits, store: reader,
            channels: EveryChannel(),
            statistics: ShardStatistics(
                transport: context.statistics, loop: reactor.statistics, namespaces: [], timed: TimedPublishes()),
            trace: SessionTrace(bytesMax: 0, nowMs: { 0 }), nowMs: { now() })
        now = { [unowned self] in nowMs }
    }

    func topic(_ number: Int) throws -> Topic { try #require(Topic("shop:\(number)")) }

    func join(_ number: Int) throws -> Joiner {
        let joiner = Joiner()
        table.join(joiner, SubscribeRequest(topic: try topic(number), since: nil), ref: nil)
        return joiner
    }

    /// Answers the oldest read: where the log ends, and the offsets of the events it brings.
    func answer(_ offset: Int, epoch: String = "a", events: [Int] = []) throws {
        let position = try #require(Position(epoch: Array(epoch.utf8), offset: offset))
        let messages = try events.map { try TopicShop.message($0, epoch: epoch) }
        reader.answerOldest(.success(LogRead.Answer(position: position, events: messages, state: nil)))
    }

    private static func message(_ offset: Int?, epoch: String, bytes: Int = 0) throws -> ChannelMessage {
        let name = try #require(EventName("e"))
        let position = offset.flatMap { Position(epoch: Array(epoch.utf8), offset: $0) }
        let data = [UInt8](repeating: UInt8(ascii: "1"), count: bytes)
        return ChannelMessage(position: position, event: name, id: nil, data: data)
    }

    /// Members that are live on a topic whose log ends at an offset.
    func members(_ count: Int, of number: Int, at offset: Int) throws -> [Joiner] {
        let joiners = try (0..<count).map { _ in try join(number) }
        table.confirmed(try topic(number))
        // Who came after the first was asked for is answered by the next read.
        while !reader.asked.isEmpty { try answer(offset) }
        return joiners
    }

    /// An event comes on the channel; without an offset a plain one.
    func event(_ number: Int, offset: Int?, epoch: String = "a", bytes: Int = 0) throws {
        table.received(try topic(number), try TopicShop.message(offset, epoch: epoch, bytes: bytes))
    }

    /// Gives members of large topics their turn until nothing is left for them.
    func finishLaps() {
        while table.hasRounds { _ = table.serveSlice() }
    }
}
