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
    /// Makes the names of keys and channels.
    public let keys: Keys
    /// The address of Redis, and the limits for its links.
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
    /// See ``json``.
    public let jsonBytesMax: Int
    /// Milliseconds between two probes of a link, and until a probe that has not returned is lost.
    public let probeMs: Int
    /// See ``probeMs``.
    public let probeTimeoutMs: Int
    /// The figures of the bus.
    public let figures: BusStatistics
    /// The figures of links that are not counted by master.
    public let links: Registry<RedisStatistics>
    /// The figures of the questions to Sentinels.
    public let sentinels: SentinelStatistics
    /// The figures of links to masters of a cluster.
    public let masters: MasterFigures
    /// Takes the state of delivery.
    public let health: Health
    /// The log of the node.
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
    /// The number of the shard.
    public let shard: Int
    /// The message, or as much of it as the shard needs.
    public let bytes: [UInt8]

    /// Takes all members.
    public init(shard: Int, bytes: [UInt8]) {
        self.shard = shard
        self.bytes = bytes
    }
}
