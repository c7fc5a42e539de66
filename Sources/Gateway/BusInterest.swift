import Bus
import Core
import Topics

/// Subscribes to the channels that a shard needs.
///
/// Thread: the shard's.
struct BusInterest: ChannelInterest {
    /// The shard's subscription.
    let bus: ShardBus

    func want(_ topic: Topic) -> Bool { bus.want(topic) }

    func unwant(_ topic: Topic) { bus.unwant(topic) }
}
