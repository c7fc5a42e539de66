public import Operations
public import RedisLink

/// Orders of the first shard to the shards, itself included.
public enum BusOrder: Sendable {
    /// The servers that links for calls lead to now.
    case follow(Placement)
    /// The servers that links for channels lead to now.
    case subscribe(Placement)
    /// The channels for probes, by server; others are given up.
    case listen([ServerID: [UInt8]])
    /// Publish this number at a server, on its channel for probes.
    case probe(ServerID, channel: [UInt8], Int)
    /// Dial a link to a server again: it is mute or leads to another one.
    case reconnect(BusLink, ServerID, NotReadyReason)
    /// A message for this shard arrived on the node's own channel.
    case inbox([UInt8])
}
