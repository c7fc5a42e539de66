import Bus
import Core
import Reactors
import Topics

/// Asks the bus for the channels that a shard needs.
///
/// Thread: the shard's.
struct BusInterest: ChannelInterest {
    /// The bus's mailbox.
    let bus: Mailbox<BusRequest>
    /// The shard's number.
    let shard: Int

    func want(_ topic: Topic) -> Bool { bus.send(.want(topic, shard: shard)) }

    func unwant(_ topic: Topic) -> Bool { bus.send(.unwant(topic, shard: shard)) }
}
