public import Core
public import Operations
import Reactors
public import RedisLink
public import Service

/// The surroundings of the bus in its node.
///
/// Thread: any.
public struct BusContext: Sendable {
    /// The random name of the node.
    public let name: String
    public let keys: Keys
    public let redis: RedisTarget
    /// Number of shards.
    public let shards: Int
    /// Sends events to a shard, all or none; `false` when its mailbox is full.
    public let send: @Sendable (_ shard: Int, [BusEvent]) -> Bool
    /// Reads a message on the node's own channel; `nil` when it is malformed.
    public let read: @Sendable ([UInt8]) -> InboxMessage?
    /// The limits of an event.
    public let bounds: ChannelMessage.Bounds
    /// The limits of JSON in a change of presence, and its maximum size in bytes.
    public let json: JSON.Limits
    public let jsonBytesMax: Int
    /// Milliseconds between two probes of a link, and until a probe that has not returned is lost.
    public let probeMs: Int
    public let probeTimeoutMs: Int
    public let figures: BusStatistics
    /// The figures of links that are not counted by master.
    public let links: Registry<RedisStatistics>
    public let sentinels: SentinelStatistics
    public let masters: MasterFigures
    public let health: Health
    public let log: Log

    /// Takes all members.
    public init(
        name: String, keys: Keys, redis: RedisTarget, shards: Int,
        send: @escaping @Sendable (_ shard: Int, [BusEvent]) -> Bool,
        read: @escaping @Sendable ([UInt8]) -> InboxMessage?, bounds: ChannelMessage.Bounds, json: JSON.Limits,
        jsonBytesMax: Int, probeMs: Int, probeTimeoutMs: Int, figures: BusStatistics, links: Registry<RedisStatistics>,
        sentinels: SentinelStatistics, masters: MasterFigures, health: Health, log: Log
    ) {
        self.name = name
        self.keys = keys
        self.redis = redis
        self.shards = shards
        self.send = send
        self.read = read
        self.bounds = bounds
        self.json = json
        self.jsonBytesMax = jsonBytesMax
        self.probeMs = probeMs
        self.probeTimeoutMs = probeTimeoutMs
        self.figures = figures
        self.links = links
        self.sentinels = sentinels
        self.masters = masters
        self.health = health
        self.log = log
    }
}

/// A message on the node's own channel, and the shard that it is for.
public struct InboxMessage: Sendable {
    public let shard: Int
    public let bytes: [UInt8]

    /// Takes all members.
    public init(shard: Int, bytes: [UInt8]) {
        self.shard = shard
        self.bytes = bytes
    }
}
