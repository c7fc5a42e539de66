public import Core
import Operations
public import RedisLink

/// Requests of the shards to the bus, and of the node to both.
public enum BusRequest: Sendable {
    /// A shard has members for a topic and needs its channel.
    case want(Topic, shard: Int)
    /// A shard has no members for a topic any more.
    case unwant(Topic, shard: Int)
    /// State of a shard's link to a server.
    case link(shard: Int, ServerID, LinkReport)
    /// A shard asks where the servers are; the answer is ``BusEvent/follow(_:)``.
    case hint(ServerHint)
    /// A shard has left the servers that are not in the placement of this generation.
    case followed(shard: Int, generation: Int)
    /// A probe of a server could not be written, so no reply will arrive.
    case probeRefused(shard: Int, ServerID, number: Int, RedisFailure)
    /// End the thread.
    case stop
}
