import Core

/// What shards ask of the broker, and the node of both.
enum BrokerMessage: Sendable {
    /// A shard has members for a topic.
    case want(Topic, shard: Int)
    /// A shard has none left.
    case unwant(Topic, shard: Int)
    /// What became of a shard's command link.
    case link(shard: Int, LinkReport)
    /// End the thread.
    case stop
}
