public import Core
public import Operations
public import RedisLink
public import Service

/// The parts of a node that the bus uses, on every shard.
///
/// Thread: any.
public struct BusContext: Sendable {
    /// The random name of the node.
    public let name: String
    /// The names of channels and keys in Redis.
    public let keys: Keys
    /// The servers to subscribe at.
    public let redis: RedisTarget
    /// Number of shards.
    public let shards: Int
    /// Sends orders to a shard, all or none; `false` when its mailbox is full.
    public let send: @Sendable (_ shard: Int, [BusOrder]) -> Bool
    /// Sends reports to the first shard, all or none; `false` when its mailbox is full.
    public let report: @Sendable ([BusReport]) -> Bool
    /// Reads a message on the node's own channel; `nil` when it is malformed.
    public let read: @Sendable ([UInt8]) -> InboxMessage?
    /// The limits of an event.
    public let bounds: ChannelMessage.Bounds
    /// The limits of JSON in a change of presence.
    public let json: JSON.Limits
    /// The maximum bytes of a change of presence.
    public let jsonBytesMax: Int
    /// Milliseconds between two probes of a link.
    public let probeMs: Int
    /// Milliseconds until a probe that has not returned is lost.
    public let probeTimeoutMs: Int
    /// The counters of the bus.
    public let figures: BusStatistics
    /// The figures of links that are not counted by master.
    public let links: Registry<RedisStatistics>
    /// The figures of the Sentinels; they stay 0 without any.
    public let sentinels: SentinelStatistics
    /// The figures of a cluster's masters; none without a cluster.
    public let masters: MasterFigures
    /// The readiness table, whose row `redis` the bus sets.
    public let health: Health
    /// The log, for lost subscriptions and failed links.
    public let log: Log

    /// The surroundings on a node with that name; the closures are called on the threads of shards.
    public init(
        name: String, keys: Keys, redis: RedisTarget, shards: Int,
        send: @escaping @Sendable (_ shard: Int, [BusOrder]) -> Bool, report: @escaping @Sendable ([BusReport]) -> Bool,
        read: @escaping @Sendable ([UInt8]) -> InboxMessage?, bounds: ChannelMessage.Bounds, json: JSON.Limits,
        jsonBytesMax: Int, probeMs: Int, probeTimeoutMs: Int, figures: BusStatistics, links: Registry<RedisStatistics>,
        sentinels: SentinelStatistics, masters: MasterFigures, health: Health, log: Log
    ) {
        self.name = name
        self.keys = keys
        self.redis = redis
        self.shards = shards
        self.send = send
        self.report = report
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
    /// The number of the shard, from 0.
    public let shard: Int
    /// The message as it was published.
    public let bytes: [UInt8]

    /// A message whose sender is not verified yet.
    public init(shard: Int, bytes: [UInt8]) {
        self.shard = shard
        self.bytes = bytes
    }
}
