import Core
import Dialects

/// A client that has asked for a topic and waits for Redis.
struct Joining {
    let session: Session
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
struct Member {
    let session: Session
    /// Events up to this position were in its answer; the feed is still behind it. `nil` once the feed has caught up.
    var ahead: Position?
}

/// One topic on one shard: its members, those joining, and where the feed stands. Thread: the shard's.
final class TopicFeed {
    let topic: Topic
    var cursor = FeedCursor()
    /// Whether Redis has confirmed the channel and it has not been lost since.
    var isConfirmed = false
    /// Live members, in no particular order; each session knows its place.
    private(set) var members: [Member] = []
    var joining: [Joining] = []
    /// Events kept while a repair is under way.
    var held: [Delivery] = []
    /// The call that repairs; 0 when none is under way. An answer to another call is too late.
    var repairCall = 0
    /// How many of `members` are ahead of the feed.
    private(set) var aheadCount = 0
    /// When the last member left; the channel is given up some time after.
    var emptySinceMs: Int?

    /// Events kept during a repair or a join; beyond, the hole is told instead.
    static let heldMax = 1_024

    init(topic: Topic) {
        self.topic = topic
    }

    var isEmpty: Bool { members.isEmpty && joining.isEmpty }

    /// Adds a live member; tells its place.
    func add(_ session: Session, ahead: Position?) -> Int {
        members.append(Member(session: session, ahead: ahead))
        if ahead != nil { aheadCount += 1 }
        return members.count - 1
    }

    /// Removes the member at a place; the last one takes it and is returned, to be told.
    func remove(at index: Int) -> Session? {
        guard index < members.count else { return nil }
        if members[index].ahead != nil { aheadCount -= 1 }
        let last = members.removeLast()
        guard index < members.count else { return nil }
        members[index] = last
        return last.session
    }

    /// Marks a member as caught up.
    func caughtUp(_ index: Int) {
        guard members[index].ahead != nil else { return }
        members[index].ahead = nil
        aheadCount -= 1
    }
}
