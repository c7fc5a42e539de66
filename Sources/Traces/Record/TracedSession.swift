public import Core

/// The record of one session: its caller, its subscriptions, and its end.
public struct TracedSession: Equatable, Sendable {
    /// The end of a session.
    public struct Closing: Equatable, Sendable {
        /// Monotonic milliseconds.
        public var atMs: Int
        /// The reason.
        public var reason: CloseReason
    }

    /// A subscribe request that was refused.
    public struct Refused: Equatable, Sendable {
        /// Monotonic milliseconds.
        public var atMs: Int
        /// The topic.
        public var topic: Topic
        /// The code of the error.
        public var code: String
        /// The message of the error.
        public var message: String
    }

    /// A token that was refused.
    public struct RefusedToken: Equatable, Sendable {
        /// Monotonic milliseconds.
        public var atMs: Int
        /// The raw value of the failure.
        public var failure: String
    }

    /// The number of the session on its shard.
    public let number: UInt32
    /// The kind of its caller.
    public var caller = TraceEntry.Caller.anonymous
    /// The user, or the name of the API key; empty for none.
    public var name: [UInt8] = []
    /// The address of its client; `nil` where it is not known.
    public var address: IPAddress?
    /// The name of its dialect.
    public var dialect = ""
    /// Whether it publishes events that are not sent back to it.
    public var isExcluding = false
    /// When it began, monotonic milliseconds; `nil` when that is longer ago than the record goes back.
    public var openedMs: Int?
    /// Its subscriptions, in their order.
    public var stays: [TopicStay] = []
    /// Refused subscribe requests, in their order.
    public var refused: [Refused] = []
    /// Its refused tokens, in their order.
    public var tokens: [RefusedToken] = []
    /// The end; `nil` while it is open.
    public var closed: Closing?
    /// Whether some changes are not in the record or in the answer, since there were too many.
    public var isFull = false

    /// A session of which nothing is known yet.
    public init(number: UInt32) {
        self.number = number
    }
}
