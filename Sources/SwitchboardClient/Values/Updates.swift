/// Where an event stands in its topic: the epoch, and an offset that grows by one.
///
/// Offsets compare within an epoch only.
public struct Position: Sendable, Hashable, Codable {
    /// The topic's epoch.
    public var epoch: String
    /// The offset of the last event that counts as seen, from 0.
    public var offset: Int64

    /// A position, such as one that the app has stored.
    public init(epoch: String, offset: Int64) {
        self.epoch = epoch
        self.offset = offset
    }

    /// The position in an answer or a gap; `nil` where there is none.
    init?(_ value: JSONValue) {
        guard let epoch = value["epoch"]?.string, let offset = value["offset"]?.integer, offset >= 0 else { return nil }
        self.init(epoch: epoch, offset: offset)
    }

    /// The position as the `since` of a subscribe.
    var json: JSONValue { ["epoch": .string(epoch), "offset": .integer(offset)] }
}

/// One event of a topic.
public struct TopicEvent: Sendable, Hashable {
    /// The topic, e.g.
    ///
    /// `shop:42`.
    public var topic: String
    /// The event's name, e.g.
    ///
    /// `queue:update`.
    public var name: String
    /// What it says.
    public var data: JSONValue
    /// Where it stands; `nil` for an event that is delivered at most once.
    public var position: Position?

    /// What it says, as a type of the app's.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws(SwitchboardError) -> Value {
        try data.decode(type)
    }
}

/// A place in a topic where events are missing.
///
/// Whoever shows a state reads it anew.
public struct Gap: Sendable, Hashable {
    /// Why events are missing.
    public enum Reason: String, Sendable, Hashable {
        /// The gateway could not fetch them.
        case missed
        /// The topic began a new epoch.
        case reset
        /// This connection reads too slowly, and newer events took their place.
        case conflated
        /// They were over when the client came back.
        case notRecovered
        /// The app did not take its updates, and a thousand waited.
        case tooSlow
        /// They belong to a topic that this one follows.
        case followed
    }

    /// Why.
    public var reason: Reason
    /// How many; `nil` when nobody knows.
    public var missed: Int64?
    /// The position behind the gap; `nil` when nobody knows.
    public var position: Position?
}

/// Somebody who is at a topic.
public struct Member: Sendable, Hashable {
    /// One for each session; the gateway says it.
    public var id: String
    /// Who it is, by the token.
    ///
    /// The only member that proves anything.
    public var user: String?
    /// What the client calls itself; proves nothing.
    public var key: String
    /// What the client says of itself.
    public var meta: JSONValue

    /// A member as the gateway tells it; `nil` without an id.
    init?(_ value: JSONValue) {
        guard let id = value["id"]?.string else { return nil }
        self.id = id
        user = value["user"]?.string
        key = value["key"]?.string ?? id
        meta = value["meta"] ?? [:]
    }
}

/// What an iterator of a topic is told, in order.
public enum TopicUpdate: Sendable, Hashable {
    /// The topic is live. `state` replaces what was known, where the namespace has one. With `recovered` nothing was
    /// missed: the events since follow.
    /// `position` is the last event that counts as seen; `nil` where the topic has no positions.
    case live(state: JSONValue?, recovered: Bool, position: Position?)
    /// An event.
    case event(TopicEvent)
    /// Events are missing here.
    case gap(Gap)
    /// Not live for now: offline, or refused for a moment. The client goes on by itself.
    case pending(SwitchboardError?)
    /// Who is here: the whole set, after each change.
    case members([Member])

    /// Where the topic stands behind this; `nil` where the update does not tell.
    var position: Position? {
        switch self {
        case .live(_, _, let position): position
        case .event(let event): event.position
        case .gap(let gap): gap.position
        case .pending, .members: nil
        }
    }
}
