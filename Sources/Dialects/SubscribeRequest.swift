public import Core

/// One topic to join, and the position to resume from.
public struct SubscribeRequest: Hashable, Sendable {
    /// The topic.
    public let topic: Topic
    /// The last position that the client has seen; `nil` for a fresh start.
    public let since: Position?
    /// Whether the client wants presence.
    public let presence: Bool
    /// Events that it wants by the clock first; it then joins at their end, regardless of `since`.
    public let replay: ReplayRequest?

    /// Makes a request.
    public init(topic: Topic, since: Position?, presence: Bool = false, replay: ReplayRequest? = nil) {
        self.topic = topic
        self.since = since
        self.presence = presence
        self.replay = replay
    }
}
