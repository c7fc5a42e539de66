public import Core

/// The rooms of a shard to which its subscription brings messages.
///
/// Thread: the shard's.
public protocol BusReceiver: AnyObject {
    /// Redis has confirmed a topic's channel, for the first time or again; earlier messages may have been missed.
    func confirmed(_ topic: Topic)
    /// An event arrived on a topic's channel.
    func received(_ topic: Topic, _ event: ChannelMessage)
    /// A change of presence arrived on a topic's channel.
    func received(_ topic: Topic, _ update: PresenceUpdate)
    /// A topic's subscription was lost; it is confirmed again later.
    func lost(_ topic: Topic)
    /// The subscriptions of all topics were lost; each is confirmed again later.
    func allLost()
    /// A message for this shard arrived on the node's own channel; its sender is not verified yet.
    func inbox(_ message: [UInt8])
}
