import Core
import Operations
import Reactors
import RedisLink
import Service

/// The surroundings of the bus in its node.
///
/// Thread: any.
struct BusContext: Sendable {
    /// The random name of the node.
    let name: String
    let keys: Keys
    let redis: RedisTarget
    /// Number of shards.
    let shards: Int
    /// Sends events to a shard, all or none; `false` when its mailbox is full.
    let send: @Sendable (_ shard: Int, [BusEvent]) -> Bool
    /// Reads a message on the node's own channel; `nil` when it is malformed.
    let read: @Sendable ([UInt8]) -> InboxMessage?
    /// The limits of an event.
    let bounds: ChannelMessage.Bounds
    /// The limits of JSON in a change of presence, and its maximum size in bytes.
    let json: JSON.Limits
    let jsonBytesMax: Int
    /// Milliseconds between two probes of a link, and until a probe that has not returned is lost.
    let probeMs: Int
    let probeTimeoutMs: Int
    let figures: BusStatistics
    /// The figures of links that are not counted by master.
    let links: Registry<RedisStatistics>
    let sentinels: SentinelStatistics
    let masters: MasterFigures
    let health: Health
    let log: Log
}

/// A message on the node's own channel, and the shard that it is for.
struct InboxMessage {
    let shard: Int
    let bytes: [UInt8]
}
