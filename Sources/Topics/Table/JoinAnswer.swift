public import Core

/// The answer to a client that joined a topic.
public struct JoinAnswer: Equatable, Sendable {
    /// The position of the answer; the client's events follow it.
    public let position: Position
    /// The position that the client asked to continue from; `nil` for none.
    public let since: Position?
    /// Whether the events between the two were sent.
    public let isRecovered: Bool
}
