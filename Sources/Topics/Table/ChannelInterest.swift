public import Core

/// Subscribes to the channels of the topics that have members.
///
/// Thread: the shard's.
public protocol ChannelInterest {
    /// Subscribes to a topic's channel; returns `true` when it is live already, otherwise it is confirmed later.
    func want(_ topic: Topic) -> Bool

    /// Gives a topic's channel up.
    func unwant(_ topic: Topic)
}
