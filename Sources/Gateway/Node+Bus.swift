import Core
import Operations
import Reactors

/// The surroundings of the bus.
extension Node {
    var busContext: BusContext {
        BusContext(
            name: name, keys: keys, redis: redis, shards: shards.count,
            send: { [shards] in shards[$0].send(contentsOf: $1.lazy.map { .bus($0) }) },
            read: { [limits] in NodeInbox.read($0, limits) }, bounds: ChannelMessage.Bounds(limits),
            json: limits.answers, jsonBytesMax: limits.answerBytesMax, probeMs: limits.redisProbeMs,
            probeTimeoutMs: limits.redisProbeTimeoutMs, figures: figures.bus, links: figures.redis,
            sentinels: figures.sentinel, masters: figures.masters, health: health, log: log)
    }
}

/// Asks the bus for the channels of a shard's topics.
struct ShardInterest: ChannelInterest {
    let bus: Mailbox<BusRequest>
    let shard: Int

    func want(_ topic: Topic) -> Bool { bus.send(.want(topic, shard: shard)) }
    func unwant(_ topic: Topic) -> Bool { bus.send(.unwant(topic, shard: shard)) }
}
