import Core
import RedisLink

/// What shards ask of the broker, and the node of both.
enum BrokerMessage: Sendable {
    /// A shard has members for a topic.
    case want(Topic, shard: Int)
    /// A shard has none left.
    case unwant(Topic, shard: Int)
    /// What became of a shard's command link.
    case link(shard: Int, LinkReport)
    /// A shard asks where the servers are; the answer is `ShardMessage.servers`.
    case servers(ServerHint)
    /// A shard has left the servers that are not on the map of this generation.
    case moved(shard: Int, generation: Int)
    /// A probe could not be written, so it will not come back.
    case probeRefused(shard: Int, number: Int, RedisFailure)
    /// What became of a shard's link to a master of a cluster, by its node id.
    case master(shard: Int, [UInt8], LinkReport)
    /// A probe of a master could not be written.
    case masterProbeRefused(shard: Int, [UInt8], number: Int, RedisFailure)
    /// The cluster's map may be out of date; the address knows more, where it is given.
    case mapIsStale(ClusterAddress?)
    /// End the thread.
    case stop
}
