public import Core

/// One topic to join, and where to resume.
public struct SubscribeRequest: Hashable, Sendable {
    /// The topic.
    public let topic: Topic
    /// The last position the client has seen; `nil` when it starts anew.
    public let since: Position?
    /// Whether the client wants to know who is here.
    public let presence: Bool
    /// Events that it wants by the clock first; then it joins where these end, whatever `since` says.
    public let replay: ReplayRequest?

    /// Makes a request.
    public init(topic: Topic, since: Position?, presence: Bool = false, replay: ReplayRequest? = nil) {
        self.topic = topic
        self.since = since
        self.presence = presence
        self.replay = replay
    }
}
