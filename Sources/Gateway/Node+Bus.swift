import Bus
import Core
import Operations
import Reactors

/// The parts of the node that the bus uses.
extension Node {
    var busContext: BusContext {
        BusContext(
            name: name, keys: keys, redis: redis, shards: shards.count,
            send: { [shards] in shards[$0].send(contentsOf: $1.lazy.map { .order($0) }) },
            report: { [shards] in shards[0].send(contentsOf: $0.lazy.map { .report($0) }) },
            read: { [limits] in NodeInbox.read($0, limits) }, bounds: ChannelMessage.Bounds(limits),
            json: limits.answers, jsonBytesMax: limits.answerBytesMax, probeMs: limits.redisProbeMs,
            probeTimeoutMs: limits.redisProbeTimeoutMs, figures: figures.bus, links: figures.redis,
            sentinels: figures.sentinel, masters: figures.masters, health: health, log: log)
    }
}
