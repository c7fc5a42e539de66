public import Core
public import Operations
public import RedisLink

/// Messages of the bus to a shard.
public enum BusEvent: Sendable {
    /// Redis has confirmed a topic's channel.
    case confirmed(Topic)
    /// An event arrived on a topic's channel.
    case event(Topic, ChannelMessage)
    /// A change of presence arrived on a topic's channel.
    case presence(Topic, PresenceUpdate)
    /// A topic's subscription was lost; it is confirmed again later.
    case topicLost(Topic)
    /// The subscription, or messages to this shard, were lost.
    case lost
    /// A message for this shard arrived on the node's own channel.
    case inbox([UInt8])
    /// The servers that links lead to now.
    case follow(Placement)
    /// Publish this number at a server, on its channel for probes.
    case probe(ServerID, channel: [UInt8], Int)
    /// Dial the link to a server again: it is mute or leads to another one.
    case reconnect(ServerID, NotReadyReason)
    /// Report the state of the link to a server again.
    case reportLink(ServerID)
}
