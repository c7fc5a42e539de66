import Core

/// The way in which topics' channels are asked for.
///
/// Thread: the shard's.
protocol ChannelInterest {
    /// Asks for a topic's channel, whose confirmation follows; `false` when the request cannot be taken now.
    func want(_ topic: Topic) -> Bool
    /// Gives a topic's channel up; `false` when the request cannot be taken now.
    func unwant(_ topic: Topic) -> Bool
}
