public import Core

/// Everything that is known about one event and one user; the verdict follows from it.
///
/// Pure. Times are milliseconds since 1970.
public struct WhyFacts: Sendable {
    /// The state of the event in the log.
    public enum Event: Equatable, Sendable {
        /// The log has it.
        case logged(name: String, bytes: Int, atMs: Int?)
        /// It was published, and the log does not have it any more.
        case gone(first: Int)
        /// The offset is beyond the newest event.
        case notReached(top: Position)
        /// The topic has no position.
        case noTopic
        /// The topic is in another epoch now.
        case otherEpoch(top: Position)
    }

    /// The user's right to subscribe at the time of the question.
    public enum Rights: Equatable, Sendable {
        case allowed
        case refused(String)
        case unread(String)
    }

    /// The blocks that concern the user and the topic.
    public struct Blocks: Equatable, Sendable {
        /// A few of the users whom the user blocks.
        public var blocks: [String]
        /// A few of the users who block the user.
        public var blockedBy: [String]
        /// The other user of a direct conversation, when one of the two blocks the other.
        public var partner: String?
        /// The event is sent in place of a whole one where a user must not be shown.
        public var isStandIn: Bool

        /// Makes the fact.
        public init(blocks: [String], blockedBy: [String], partner: String? = nil, isStandIn: Bool = false) {
            self.blocks = blocks
            self.blockedBy = blockedBy
            self.partner = partner
            self.isStandIn = isStandIn
        }
    }

    /// A gateway that does not exist any more.
    public struct GoneNode: Hashable, Sendable {
        /// Its name.
        public var name: String
        /// When it was last known to live.
        public var seenMs: Int
        /// Whether the topic's presence still lists the user there.
        public var listsUser: Bool

        /// Makes the fact.
        public init(name: String, seenMs: Int, listsUser: Bool = false) {
            self.name = name
            self.seenMs = seenMs
            self.listsUser = listsUser
        }
    }

    /// The user.
    public let user: String
    /// The topic of the event.
    public let topic: Topic
    /// The position of the event; `nil` while the topic has none.
    public let position: Position?
    /// The offset of the event.
    public let offset: Int
    /// The event in the log.
    public var event: Event
    /// The user's sessions on all nodes, oldest first.
    public var sessions: [SessionFact] = []
    /// The user's right to subscribe now.
    public var rights: Rights = .allowed
    /// Tokens issued up to then are refused, seconds since 1970; `nil` for none.
    public var revokedUntil: Int?
    /// `nil` where no pack knows of blocks.
    public var blocks: Blocks?
    /// The gateways that have gone.
    public var goneNodes: [GoneNode] = []
    /// Nodes that did not answer in time.
    public var unanswered: [String] = []
    /// The time from which on the records of all nodes are whole; `nil` when a node keeps none.
    public var recordedSinceMs: Int?
    /// The part of the facts that the asker may see.
    public internal(set) var scope = Scope.everything

    /// Facts about an event; `position` is `nil` while the topic has none.
    public init(user: String, topic: Topic, offset: Int, position: Position?, event: Event) {
        self.user = user
        self.topic = topic
        self.offset = offset
        self.position = position
        self.event = event
    }

    /// When the event was logged; `nil` when that is not known.
    var eventMs: Int? {
        if case .logged(_, _, let atMs) = event { atMs } else { nil }
    }
}

/// A session of the user, as a node told of it.
public struct SessionFact: Equatable, Sendable {
    /// A token that was refused.
    public struct Token: Equatable, Sendable {
        /// When it was refused.
        public var atMs: Int
        /// The raw value of the failure.
        public var failure: String
    }

    /// A subscribe request that was refused.
    public struct Refused: Equatable, Sendable {
        /// When it was refused.
        public var atMs: Int
        /// The code of the error.
        public var code: String
        /// The message of the error.
        public var message: String
    }

    /// One subscription.
    public struct Stay: Equatable, Sendable {
        /// When its answer was sent.
        public var subscribedMs: Int?
        /// The position of the answer, as text.
        public var position: String?
        /// The position that the client asked to continue from, as text.
        public var since: String?
        /// The word of an ``EventFate``.
        public var fate: EventFate.Word
        /// When the event was replaced or the gap was told.
        public var fateMs: Int?
        /// Whether the fate is certain: a record may name only a range, and an event may be the session's own.
        public var isSure = true
        /// Whether the user's own topic follows the topic.
        public var isFollowed = false
        /// When it ended.
        public var endedMs: Int?
        /// `left`, `withdrawn`, or the reason of the close; `nil` while it is live.
        public var cause: String?
        /// The reason for which the right was withdrawn.
        public var message: String?

        /// The cause of a subscription that the client ended.
        public static let left = "left"
        /// The cause of a subscription whose right was taken away.
        public static let withdrawn = "withdrawn"

        /// A subscription with an event's fate.
        public init(fate: EventFate.Word) {
            self.fate = fate
        }
    }

    /// `NODE.SHARD.NUMBER`.
    public var id: String
    /// The user; `nil` for a session without one.
    public var user: String?
    /// When it began.
    public var openedMs: Int?
    /// When it ended.
    public var closedMs: Int?
    /// The reason of its end.
    public var reason: String?
    /// Its subscriptions, in their order.
    public var stays: [Stay] = []
    /// Its refused subscribe requests.
    public var refused: [Refused] = []
    /// Its refused tokens.
    public var tokens: [Token] = []
    /// Whether some changes are not in the record, since there were too many.
    public var isFull = false

    /// A session of which nothing else is known.
    public init(id: String) {
        self.id = id
    }

    /// The node's name.
    public var node: String { String(id.prefix { $0 != "." }) }
}
