/// The position of an event in its topic: the epoch, and an offset that grows by one.
///
/// Offsets compare within an epoch only.
public struct TopicPosition: Sendable, Hashable, Codable {
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
    /// The topic, such as `shop:42`.
    public var topic: String
    /// The event's name, such as `queue:update`.
    public var name: String
    /// The event's data.
    public var data: JSONValue
    /// The event's position; `nil` for an event that is delivered at most once.
    public var position: TopicPosition?

    /// The event's data as a type of the app's.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws(SwitchboardError) -> Value {
        try data.decode(type)
    }
}

/// A place in a topic where events are missing.
///
/// An app that shows the topic's state reads it again.
public struct TopicGap: Sendable, Hashable {
    /// The reason why events are missing.
    public enum Reason: String, Sendable, Hashable {
        /// The gateway could not fetch them.
        case missed
        /// The topic began a new epoch.
        case reset
        /// This connection reads too slowly, and newer events replaced them.
        case conflated
        /// They were no longer stored when the client reconnected.
        case notRecovered
        /// The app did not take its updates, and a thousand waited.
        case tooSlow
        /// They belong to a topic that this one follows.
        case followed
    }

    /// The reason.
    public var reason: Reason
    /// The number of missing events; `nil` when unknown.
    public var missed: Int64?
    /// The position after the gap; `nil` when unknown.
    public var position: TopicPosition?
}

/// A member who is present at a topic.
public struct TopicMember: Sendable, Hashable {
    /// The id of the member's session, assigned by the gateway.
    public var id: String
    /// The user of the token.
    ///
    /// The only field that proves an identity.
    public var user: String?
    /// The key that the client chose; proves nothing.
    public var key: String
    /// The content of the client's entry.
    public var meta: JSONValue

    /// A member in the gateway's form; `nil` without an id.
    init?(_ value: JSONValue) {
        guard let id = value["id"]?.string else { return nil }
        self.id = id
        user = value["user"]?.string
        key = value["key"]?.string ?? id
        meta = value["meta"] ?? [:]
    }
}

/// One update of a topic; an iterator receives them in order.
public enum TopicUpdate: Sendable, Hashable {
    /// The topic is live.
    ///
    /// `state` replaces the former state, where the namespace has one. With `recovered` no event was missed: the events
    /// since follow. `position` is that of the last event that counts as seen; `nil` where the topic has no positions.
    case live(state: JSONValue?, recovered: Bool, position: TopicPosition?)
    /// An event.
    case event(TopicEvent)
    /// Events are missing here.
    case gap(TopicGap)
    /// Not live for now: offline, or refused temporarily. The client retries by itself.
    case pending(SwitchboardError?)
    /// The members present: the full list, after each change.
    case members([TopicMember])

    /// The topic's position after this update; `nil` where the update has none.
    var position: TopicPosition? {
        switch self {
        case .live(_, _, let position): position
        case .event(let event): event.position
        case .gap(let gap): gap.position
        case .pending, .members: nil
        }
    }
}
