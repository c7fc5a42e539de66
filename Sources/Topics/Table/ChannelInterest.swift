public import Core

/// Asks the bus for the channels of the topics that have members.
///
/// Thread: the shard's.
public protocol ChannelInterest {
    /// Asks for a topic's channel; false when the request could not be passed on.
    func want(_ topic: Topic) -> Bool

    /// Gives a topic's channel up; false when the request could not be passed on.
    func unwant(_ topic: Topic) -> Bool
}
