public import Core

/// One topic to join, and where to resume.
public struct SubscribeRequest: Hashable, Sendable {
    /// The topic.
    public let topic: Topic
    /// The last position the client has seen; `nil` when it starts anew.
    public let since: Position?

    /// Makes a request.
    public init(topic: Topic, since: Position?) {
        self.topic = topic
        self.since = since
    }
}
