public import Core
public import Rights
public import Topics

/// The parts of a topic that its routes read beside its log.
///
/// Thread: the shard's.
public struct TopicReading {
    /// The node's name.
    public let nodeName: String
    /// Reads a topic's presence at a payer's cost.
    public let presence: (Topic, Payer, @escaping (Result<[PresenceMember], Refusal>) -> Void) -> Void
    /// Reads a topic's presence at a payer's cost, with the entries of nodes that are gone.
    public let entries: (Topic, Payer, @escaping (Result<[PresenceMember], Refusal>) -> Void) -> Void
    /// Asks all shards of this node for their counts of a topic.
    public let report: (Topic, @escaping (TopicReport) -> Void) -> Void

    /// The readers of one shard; both answer on its thread.
    public init(
        nodeName: String,
        presence: @escaping (Topic, Payer, @escaping (Result<[PresenceMember], Refusal>) -> Void) -> Void,
        entries: @escaping (Topic, Payer, @escaping (Result<[PresenceMember], Refusal>) -> Void) -> Void,
        report: @escaping (Topic, @escaping (TopicReport) -> Void) -> Void
    ) {
        self.nodeName = nodeName
        self.presence = presence
        self.entries = entries
        self.report = report
    }
}
