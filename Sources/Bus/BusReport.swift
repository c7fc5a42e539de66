public import RedisLink

/// Reports of the shards to the first one, which leads all links and proves that they work.
public enum BusReport: Sendable {
    /// State of a shard's link to a server, for its calls or for its channels.
    case link(BusLink, shard: Int, ServerID, LinkReport)
    /// Redis has confirmed a shard's subscription to a channel for probes.
    case live(shard: Int, channel: [UInt8])
    /// A number that shard `of` had published arrived at another shard, or at itself.
    case returned(Int, of: Int, at: Int, channel: [UInt8])
    /// A probe of a server could not be written, so no reply will arrive.
    case refused(Int, shard: Int, ServerID, RedisFailure)
    /// A link asks where the servers are; the answer is ``BusOrder/follow(_:)``, and then ``BusOrder/subscribe(_:)``.
    case hint(ServerHint)
    /// A shard's calls have left the servers that are not in the placement of this generation.
    case followed(shard: Int, generation: Int)
}

/// The two links of a shard to a server.
public enum BusLink: Sendable {
    /// The link for publishes and all other calls.
    case calls
    /// The link that receives channels.
    case subscriber
}
