import Core
import Operations
import RedisLink

/// Requests of the shards to the broker, and of the node to both.
enum BusMessage: Sendable {
    /// A shard has members for a topic and needs its channel.
    case want(Topic, shard: Int)
    /// A shard has no members for a topic any more.
    case unwant(Topic, shard: Int)
    /// State of a shard's command link.
    case link(shard: Int, LinkReport)
    /// A shard asks for the servers' addresses; the answer is `ShardMessage.servers`.
    case servers(ServerHint)
    /// A shard has left the servers that are not on the map of this generation.
    case moved(shard: Int, generation: Int)
    /// A probe could not be written, so no reply will arrive.
    case probeRefused(shard: Int, number: Int, RedisFailure)
    /// State of a shard's link to a master of a cluster, by its node id.
    case master(shard: Int, [UInt8], LinkReport)
    /// A probe of a master could not be written.
    case masterProbeRefused(shard: Int, [UInt8], number: Int, RedisFailure)
    /// The cluster's map may be out of date; the server at the address, where given, has a newer one.
    case mapIsStale(ClusterAddress?)
    /// End the thread.
    case stop
}
