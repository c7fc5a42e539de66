public import Core

/// One subscription of a session to a topic, from its answer to its end.
public struct TopicStay: Equatable, Sendable {
    /// Events that the client was told that it missed.
    public struct Gap: Equatable, Sendable {
        /// Monotonic milliseconds.
        public var atMs: Int
        /// The last position before the gap.
        public var from: Position?
        /// The topic continues after this position.
        public var to: Position
        /// Whether a new epoch began.
        public var isReset: Bool
    }

    /// Events that newer ones replaced in the client's queue.
    public struct Conflated: Equatable, Sendable {
        /// Monotonic milliseconds.
        public var atMs: Int
        /// The epoch of the events.
        public var epoch: [UInt8]
        /// Their offsets.
        public var ranges: [ClosedRange<Int>]
        /// Whether the last range is exact.
        public var isWhole: Bool
    }

    /// The end of a subscription.
    public struct End: Equatable, Sendable {
        /// The cause of an end.
        public enum Cause: Equatable, Sendable {
            /// The client unsubscribed, or subscribed again.
            case left
            /// The right was taken away.
            case withdrawn(code: String, message: String)
            /// The session ended.
            case closed(CloseReason)
        }

        /// Monotonic milliseconds.
        public var atMs: Int
        /// The cause.
        public var cause: Cause
        /// The position up to which events were handed to the session; `nil` when it is not known.
        public var handed: Position?
    }

    /// The state of a subscription that is live.
    public struct Standing: Equatable, Sendable {
        /// The position up to which the topic has handed events to its members here.
        public var handed: Position?
        /// The first event that waits for the client, in a queue or in a fan-out round; `nil` when none waits.
        public var waiting: Position?

        /// Whether the session's own topic follows this one.
        public var isFollowed: Bool

        /// The state at the time of a question.
        public init(handed: Position?, waiting: Position?, isFollowed: Bool = false) {
            self.handed = handed
            self.waiting = waiting
            self.isFollowed = isFollowed
        }
    }

    /// The topic.
    public let topic: Topic
    /// When the answer was sent, monotonic milliseconds; `nil` when that is longer ago than the record goes back.
    public var subscribedMs: Int?
    /// The position of the answer; `nil` when the record does not have the beginning.
    public var at: Position?
    /// The position that the client asked to continue from.
    public var since: Position?
    /// Whether the events between the two were sent.
    public var isRecovered = false
    /// Whether the session's own topic follows this one.
    public var isFollowed = false
    /// The gaps that it received.
    public var gaps: [Gap] = []
    /// The events that newer ones replaced.
    public var conflated: [Conflated] = []
    /// The first event that was handed to the session and not written.
    public var unsent: Position?
    /// The end; `nil` while it is live.
    public var end: End?
    /// The state at the time of the question; `nil` once it has ended.
    public var now: Standing?

    /// A subscription of which nothing is known yet.
    public init(topic: Topic) {
        self.topic = topic
    }
}
