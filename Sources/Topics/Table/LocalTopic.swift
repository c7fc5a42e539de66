import Connections
public import Core
public import Dialects
import Operations

/// The services that a topic needs of its clients: sessions, or models of them in tests.
///
/// Thread: the shard's.
public protocol TopicClient: AnyObject {
    /// The caller and payer of its reads; `nil` for a client without a caller of its own.
    var asker: ReadCaller? { get }
    /// The client has begun to join the topic.
    func joins(_ feed: LocalTopic<Self>)
    /// The client is live on the topic, at that place among its members, with the answer that it was sent.
    func joined(_ feed: LocalTopic<Self>, place: Int, _ answer: JoinAnswer)
    /// The client has moved to another place among the topic's members.
    func moved(to place: Int, in feed: LocalTopic<Self>)
    /// The client could not join.
    func refused(_ refusal: Refusal, topic: Topic, ref: Reference?)
    /// Sends the client a message about the topic.
    func send(_ message: ServerMessage, ref: Reference?)
    /// Delivers an event; `isBacklog`: the client requested it by its position.
    ///
    /// The outcome is counted in `delivery.counts`, once for each call.
    func deliver(_ delivery: Delivery, isBacklog: Bool)
    /// Delivers several events of a topic at once; the same as one call for each of them.
    func deliver(_ batch: DeliveryBatch)
}

extension TopicClient {
    var asker: ReadCaller? { nil }

    func deliver(_ batch: DeliveryBatch) {
        for delivery in batch.deliveries { deliver(delivery, isBacklog: false) }
    }
}

/// The source of a topic's position, events and state: the event log, or a model of it in tests.
public protocol TopicReader: AnyObject {
    /// Reads a topic for joining clients or for a repair; answers arrive in the order of their requests.
    func read(_ topic: Topic, _ order: LogRead.Order, since: Position?, _ completion: @escaping LogRead.Completion)
    /// Whether each caller needs a read of its own.
    func isPersonal(_ topic: Topic) -> Bool
    /// Reads a personal topic for one joining caller; the failure is why it may not join.
    func read(_ topic: Topic, for asker: ReadCaller, since: Position?, _ completion: @escaping LogRead.Completion)
}

extension TopicReader {
    func isPersonal(_ topic: Topic) -> Bool { false }

    func read(_ topic: Topic, for asker: ReadCaller, since: Position?, _ completion: @escaping LogRead.Completion) {
        read(topic, .newest, since: since, completion)
    }
}

/// A client that has asked for a topic and waits for Redis.
struct Joining<Client: TopicClient> {
    let client: Client
    let since: Position?
    let ref: Reference?
    /// When it asked, monotonic milliseconds; it is refused when Redis takes too long.
    let askedMs: Int
    /// Whether the read under way answers it.
    var isAsked = false
}

/// A client that receives a topic's events.
struct Member<Client: TopicClient> {
    let client: Client
    /// Position up to which its answer contained the events, while the topic is still behind.
    ///
    /// `nil` once the topic has caught up.
    var ahead: Position?
    /// The number of the next event that it receives, as ``FanoutRound`` counts.
    var next: Int
}

/// One topic on one shard: its members, joining clients, and position.
///
/// Thread: the shard's.
public final class LocalTopic<Client: TopicClient> {
    /// Its name, the same on all shards and nodes.
    public let topic: Topic
    var cursor = FeedCursor()
    var ledger: TopicLedger
    /// Outcome counts of the events handed to members and joining clients: those of the ledger.
    ///
    /// A copy, since each access to a stored `var` from a specialisation in another target is checked.
    let counts: OutboundCounts
    /// The counters of its namespace.
    let namespace: NamespaceStatistics.Counts
    /// Whether Redis has confirmed the channel and it has not been lost since.
    var isConfirmed = false
    /// Live members, in no particular order; each client knows its place.
    private(set) var members: [Member<Client>] = []
    /// Events that some members have not received.
    var round = FanoutRound()
    /// Whether the topic waits for the end of the tick's messages, or for its members' fan-out round.
    var isQueued = false
    var joining: [Joining<Client>] = []
    /// The read that answers joining clients.
    var joinRead = JoinRead.none
    /// The repair for which the cursor waits; `nil` when there is none.
    var repair: FeedRepair?
    /// Whether an event was dropped that the log did not have: it was forged, or the log was another server's.
    var hasUnknown = false
    /// Number of `members` that are ahead of the topic.
    private(set) var aheadCount = 0
    /// When the last member left, monotonic milliseconds; the channel is given up some time later.
    var emptySinceMs: Int?
    /// The events of the last minute.
    private var traffic = TopicTraffic()
    /// Its index in the table's list.
    var listPlace = 0

    /// A topic without members, which continues the counts of its earlier stay on this shard.
    init(topic: Topic, ledger: TopicLedger, namespace: NamespaceStatistics.Counts) {
        self.topic = topic
        self.namespace = namespace
        self.ledger = ledger
        counts = ledger.counts
    }

    var isEmpty: Bool { members.isEmpty && joining.isEmpty }

    /// The number of live members.
    public var memberCount: Int { members.count }

    /// Counts an event for the members.
    func count(_ bytes: Int, nowMs: Int) { traffic.count(bytes, members: members.count, nowMs: nowMs) }

    /// Events, and bytes of them handed to members, per minute.
    public func perMinute(nowMs: Int) -> (events: Int, bytes: Int) { traffic.perMinute(nowMs: nowMs) }

    /// Adds a live member; returns its place.
    func add(_ client: Client, ahead: Position?) -> Int {
        members.append(Member(client: client, ahead: ahead, next: round.end))
        if ahead != nil { aheadCount += 1 }
        return members.count - 1
    }

    /// Approximate bytes that the next member of the round is to receive.
    var bytesOfNextBatch: Int { round.place < members.count ? round.bytes(from: members[round.place].next) : 0 }

    /// Takes a member's turn; returns it, and the number of the first event that it is to receive.
    func advance(_ place: Int) -> (member: Member<Client>, from: Int) {
        LocalTopic.advance(&members[place], from: round.base, to: round.end)
    }

    /// One access to the members, where reading and writing would be two.
    private static func advance(
        _ member: inout Member<Client>, from base: Int, to end: Int
    ) -> (member: Member<Client>, from: Int) {
        let from = max(member.next, base)
        member.next = end
        return (member, from)
    }

    /// The position up to which events were handed to the member at a place, or are to be handed in this round.
    public func reached(at place: Int) -> Position? {
        guard place < members.count, let ahead = members[place].ahead, let position = cursor.position,
            position.epoch == ahead.epoch, position.offset < ahead.offset
        else { return cursor.position }
        return ahead
    }

    /// The first event of the round that the member at a place has not been handed; `nil` when there is none.
    public func firstPending(at place: Int) -> Position? {
        guard place < members.count else { return nil }
        return round.first(from: members[place].next)
    }

    /// Removes the member at a place; the last one takes the place and is returned, to be notified.
    func remove(at index: Int) -> Client? {
        guard index < members.count else { return nil }
        if members[index].ahead != nil { aheadCount -= 1 }
        let last = members.removeLast()
        guard index < members.count else { return nil }
        members[index] = last
        return last.client
    }

    /// Gives up the read for joining clients; another read will serve them.
    func endJoinRead() {
        joinRead = .none
        for index in joining.indices { joining[index].isAsked = false }
    }

    /// Gives up the read of a repair under way, and the events it holds; the caller starts another one if needed.
    func endRepairRead() {
        if repair != nil { repair = FeedRepair() }
    }

    /// Forgets the position, since no member is live; the next answer to a joining client sets a new one.
    func forget() {
        ledger.ends(at: cursor.position)
        cursor.forget()
        repair = nil
        hasUnknown = false
    }

    /// Marks a member as no longer ahead of the topic.
    func caughtUp(_ index: Int) {
        guard members[index].ahead != nil else { return }
        members[index].ahead = nil
        aheadCount -= 1
    }

    /// The position after which one read serves the clients asked for: the earliest of one epoch.
    ///
    /// The topic's own epoch has precedence. A client in another epoch is answered by a later read if the log is in
    /// that epoch.
    var earliestSince: Position? {
        let own = cursor.position?.epoch
        var earliest: Position?
        // A plain loop: lazy collections of a generic type are not specialised, and cost 70,000 instructions a join.
        for client in joining {
            guard client.isAsked, let since = client.since else { continue }
            guard let found = earliest else {
                earliest = since
                continue
            }
            let isEarlier = since.epoch == found.epoch ? since.offset < found.offset : since.epoch == own
            if isEarlier { earliest = since }
        }
        return earliest
    }
}
