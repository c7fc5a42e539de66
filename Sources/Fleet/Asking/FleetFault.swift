/// The cause for which the answer of a node is missing or not whole.
///
/// The raw value is its word in answers and between nodes.
public enum FleetFault: String, CaseIterable, Error, Sendable {
    /// No answer came in time: the node, one of its shards or Redis hangs.
    case silent = "no_answer"
    /// Nobody receives messages on the node's channel: it has ended, or has lost Redis.
    case gone = "not_listening"
    /// The question could not be sent through Redis.
    case unsent = "not_sent"
    /// The node, or one of its shards, has too many questions.
    case busy = "busy"
    /// The clocks of the two nodes differ too much.
    case clock = "clock"
    /// The node has another version, which does not know the question or writes other answers.
    case version = "version"
}
