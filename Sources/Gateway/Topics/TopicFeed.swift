import Core
import Dialects
import Transport

/// What a topic needs of its clients: sessions, or models of them in tests.
///
/// Thread: the shard's.
protocol TopicClient: AnyObject {
    /// On whose behalf it asks; `nil` for nobody in particular.
    var asker: TopicAsker? { get }
    /// Waits for the topic.
    func joins(_ feed: TopicFeed<Self>)
    /// Is live on the topic, at that place among its members.
    func joined(_ feed: TopicFeed<Self>, place: Int)
    /// Has another place among the topic's members now.
    func moved(to place: Int, in feed: TopicFeed<Self>)
    /// Could not join.
    func refused(_ refusal: Refusal, topic: Topic, ref: Reference?)
    /// Is told something about the topic.
    func send(_ message: ServerMessage, ref: Reference?)
    /// Gets an event; `isOwed`: it asked for it by its position.
    ///
    /// Whatever becomes of it is counted in `delivery.counts`, once for each call.
    func deliver(_ delivery: Delivery, isOwed: Bool)
    /// Gets several events of a topic at once; the same as one call for each of them.
    func deliver(_ batch: DeliveryBatch)
}

extension TopicClient {
    var asker: TopicAsker? { nil }

    func deliver(_ batch: DeliveryBatch) {
        for delivery in batch.deliveries { deliver(delivery, isOwed: false) }
    }
}

/// Where a topic's position, events and state are read: the store, or a model of it in tests.
protocol TopicReader: AnyObject {
    /// Reads what clients that join, or a feed under repair, are told. Answers come in the order of their requests.
    func read(_ topic: Topic, _ order: LogRead.Order, since: Position?, _ completion: @escaping LogRead.Completion)
    /// Whether each caller is answered by a read of its own.
    func isPersonal(_ topic: Topic) -> Bool
    /// Reads what a caller that joins a personal topic is told, or why it may not join.
    func read(_ topic: Topic, for asker: TopicAsker, since: Position?, _ completion: @escaping LogRead.Completion)
}

extension TopicReader {
    func isPersonal(_ topic: Topic) -> Bool { false }

    func read(_ topic: Topic, for asker: TopicAsker, since: Position?, _ completion: @escaping LogRead.Completion) {
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

/// A client that gets a topic's events.
struct Member<Client: TopicClient> {
    let client: Client
    /// Events up to this position were in its answer; the feed is still behind it.
    ///
    /// `nil` once the feed has caught up.
    var ahead: Position?
    /// The number of the next event it is to be handed, as ``FanoutLap`` counts.
    var next: Int
}

/// One topic on one shard: its members, those joining, and where the feed stands.
///
/// Thread: the shard's.
final class TopicFeed<Client: TopicClient> {
    let topic: Topic
    var cursor = FeedCursor()
    var ledger: TopicLedger
    /// What became of the events handed to members and joining clients.
    var counts: OutboundCounts { ledger.counts }
    /// Whether Redis has confirmed the channel and it has not been lost since.
    var isConfirmed = false
    /// Live members, in no particular order; each client knows its place.
    private(set) var members: [Member<Client>] = []
    /// Events that are still to be handed to members.
    var lap = FanoutLap()
    /// Whether the feed waits for the end of the turn, or for its members' turns.
    var isQueued = false
    var joining: [Joining<Client>] = []
    /// The read that answers those who are asked.
    var joinRead = JoinRead.none
    /// The repair under way, which the cursor waits for; `nil` when there is none.
    var repair: FeedRepair?
    /// Whether an event was dropped that the log did not have: it was forged, or the log was another server's.
    var hasUnknown = false
    /// How many of `members` are ahead of the feed.
    private(set) var aheadCount = 0
    /// When the last member left; the channel is given up some time after.
    var emptySinceMs: Int?

    /// Makes a feed that goes on counting where an earlier one of its topic ended.
    init(topic: Topic, ledger: TopicLedger) {
        self.topic = topic
        self.ledger = ledger
    }

    var isEmpty: Bool { members.isEmpty && joining.isEmpty }

    /// Adds a live member; tells its place.
    func add(_ client: Client, ahead: Position?) -> Int {
        members.append(Member(client: client, ahead: ahead, next: lap.end))
        if ahead != nil { aheadCount += 1 }
        return members.count - 1
    }

    /// About how many bytes the member whose turn is next is to be handed.
    var bytesOfNextTurn: Int { lap.place < members.count ? lap.bytes(from: members[lap.place].next) : 0 }

    /// A member whose turn it is, and the number of the event from which on it is handed all that there are.
    func takeTurn(_ place: Int) -> (member: Member<Client>, from: Int) {
        let from = max(members[place].next, lap.base)
        members[place].next = lap.end
        return (members[place], from)
    }

    /// Removes the member at a place; the last one takes it and is returned, to be told.
    func remove(at index: Int) -> Client? {
        guard index < members.count else { return nil }
        if members[index].ahead != nil { aheadCount -= 1 }
        let last = members.removeLast()
        guard index < members.count else { return nil }
        members[index] = last
        return last.client
    }

    /// Gives up the read for those who join; they are asked for again.
    func endJoinRead() {
        joinRead = .none
        for index in joining.indices { joining[index].isAsked = false }
    }

    /// Gives up the read of a repair under way, and what it holds; whoever needs it asks for another.
    func endRepairRead() {
        if repair != nil { repair = FeedRepair() }
    }

    /// Nobody is live and nothing is known of the order any more: the next answer to a joining client begins anew.
    func forget() {
        ledger.ends(at: cursor.position)
        cursor.forget()
        repair = nil
        hasUnknown = false
    }

    /// Marks a member as caught up.
    func caughtUp(_ index: Int) {
        guard members[index].ahead != nil else { return }
        members[index].ahead = nil
        aheadCount -= 1
    }

    /// Where one read for those who are asked has to begin: the earliest position among those of one epoch.
    ///
    /// The feed's own epoch goes first; whoever stands in another one is answered by another read if that is the log's.
    var earliestSince: Position? {
        let waiting = joining.lazy.filter(\.isAsked).compactMap(\.since)
        let epoch = waiting.first { $0.epoch == cursor.position?.epoch }?.epoch ?? waiting.first?.epoch
        return waiting.filter { $0.epoch == epoch }.min { $0.offset < $1.offset }
    }
}
