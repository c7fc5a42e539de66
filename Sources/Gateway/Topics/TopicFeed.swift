import Core
import Dialects
import Transport

/// What a topic needs of its clients: sessions, or models of them in tests.
///
/// Thread: the shard's.
protocol TopicClient: AnyObject {
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
}

/// Where a topic's position, missed events and state are read: the store, or a model of it in tests.
protocol TopicReader: AnyObject {
    /// Reads what a client that joins, or a feed under repair, is told. Answers come in the order of their requests.
    func subscribe(_ topic: Topic, since: Position?, _ completion: @escaping (Result<Store.Answer, Refusal>) -> Void)
}

/// A client that has asked for a topic and waits for Redis.
struct Joining<Client: TopicClient> {
    let client: Client
    let since: Position?
    let ref: Reference?
    /// When it asked, monotonic milliseconds; it is refused when Redis takes too long.
    let askedMs: Int
    /// The call of the subscribe script that answers it; 0 while the channel is not confirmed.
    var call = 0
    /// Events that came since the script was called.
    var held: [Delivery] = []
}

/// A client that gets a topic's events.
struct Member<Client: TopicClient> {
    let client: Client
    /// Events up to this position were in its answer; the feed is still behind it.
    ///
    /// `nil` once the feed has caught up.
    var ahead: Position?
}

/// One topic on one shard: its members, those joining, and where the feed stands.
///
/// Thread: the shard's.
final class TopicFeed<Client: TopicClient> {
    let topic: Topic
    /// What became of the events handed to members and joining clients.
    let counts = OutboundCounts()
    var cursor = FeedCursor()
    /// Whether Redis has confirmed the channel and it has not been lost since.
    var isConfirmed = false
    /// Live members, in no particular order; each client knows its place.
    private(set) var members: [Member<Client>] = []
    var joining: [Joining<Client>] = []
    /// Events kept while a repair is under way.
    var held: [Delivery] = []
    /// How many of `held` came before the read that repairs was asked for.
    var heldBeforeCall = 0
    /// Whether an event was dropped because too many were held, after the read was asked for.
    var hasDropped = false
    /// The call that repairs; 0 when none is under way.
    ///
    /// An answer to another call is too late.
    var repairCall = 0
    /// How many of `members` are ahead of the feed.
    private(set) var aheadCount = 0
    /// When the last member left; the channel is given up some time after.
    var emptySinceMs: Int?

    init(topic: Topic) {
        self.topic = topic
    }

    var isEmpty: Bool { members.isEmpty && joining.isEmpty }

    /// Adds a live member; tells its place.
    func add(_ client: Client, ahead: Position?) -> Int {
        members.append(Member(client: client, ahead: ahead))
        if ahead != nil { aheadCount += 1 }
        return members.count - 1
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

    /// Gives up a repair under way; whoever needs it asks for another.
    func endRepair() {
        (held, heldBeforeCall, hasDropped, repairCall) = ([], 0, false, 0)
    }

    /// Nobody is live and nothing is known of the order any more: the next answer to a joining client begins anew.
    func forget() {
        cursor.forget()
        endRepair()
    }

    /// Marks a member as caught up.
    func caughtUp(_ index: Int) {
        guard members[index].ahead != nil else { return }
        members[index].ahead = nil
        aheadCount -= 1
    }
}
