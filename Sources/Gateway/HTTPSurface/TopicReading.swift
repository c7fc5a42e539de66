import Core
import Rights
import Topics

/// The parts of a topic that its routes read beside its log.
///
/// Thread: the shard's.
struct TopicReading {
    /// The node's name.
    let nodeName: String
    /// Reads a topic's presence at a payer's cost.
    let presence: (Topic, Payer, @escaping (Result<[PresenceMember], Refusal>) -> Void) -> Void
    /// Asks all shards of this node for their counts of a topic.
    let report: (Topic, @escaping (TopicReport) -> Void) -> Void
}
