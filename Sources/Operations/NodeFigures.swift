import Configuration
public import Core
public import Reactors
public import RedisLink
public import Service

/// The figures of a node: what its threads count, and what it has learned of Redis and of other processes.
///
/// Metrics and health are made from them. Thread: any.
public final class NodeFigures: Sendable {
    /// When the node was made, monotonic milliseconds.
    public let startedMs = Clock.monotonicMs()
    /// The limits of the node.
    let limits: Limits
    /// A short digest of the settings that all nodes should share.
    public let configHash: String
    /// Each shard's figures.
    public let shards = Registry<ShardStatistics>()
    /// Each shard's answers to HTTP requests.
    public let answers = Registry<AnswerCounts>()
    /// The routes by which they are counted.
    public let routes: AnsweredRoutes
    /// The publishes that are being timed.
    public let timed = TimedPublishes()
    /// The bus's figures.
    public let bus = BusStatistics()
    /// The bridge from Socket.IO's emitters.
    public let bridge = BridgeStatistics()
    /// Reloads of certificate and keys.
    public let reloads = ReloadStatistics()
    /// Periods in which the whole process stood still.
    public let stalls = ProcessStalls()
    /// The links to single servers.
    public let redis = Registry<RedisStatistics>()
    /// The group of Sentinels.
    public let sentinel = SentinelStatistics()
    /// The masters of a cluster, and the links to them.
    public let masters: MasterFigures
    /// The masters' answers about loading their own files.
    public let loads: Guarded<LoadBook>
    /// Memory, evictions and persistence of the masters.
    public let servers: Guarded<ServerBook>
    /// State of the outbox.
    public let outbox: Guarded<OutboxBook>
    /// Number of live workers; `nil` while it is unknown.
    public let workers = Guarded<Int?>(nil)
    /// Calls of outside services, by service.
    public let calls = Guarded<[String: CallsFigures]>([:])
    /// State of this machine's clock, and the other processes that share the Redis.
    public let nodes: Guarded<NodeBook>

    /// Figures of the node `name` (ASCII), which logs in at Redis as `user` and answers on `routes`.
    public init(
        _ limits: Limits, name: String, redisUser user: String, configHash: String, routes: AnsweredRoutes
    ) {
        self.limits = limits
        self.configHash = configHash
        self.routes = routes
        masters = MasterFigures(addressesMax: limits.clusterNodesMax)
        loads = Guarded(LoadBook(user: user))
        servers = Guarded(
            ServerBook(evictionWarnMs: limits.evictionWarnMs, percentMax: limits.redisMemoryPercent))
        outbox = Guarded(OutboxBook(lateMs: limits.outboxLateMs))
        nodes = Guarded(NodeBook(NodeEntry(.gateway, name: Array(name.utf8)), boundMs: limits.clockMs))
    }
}
