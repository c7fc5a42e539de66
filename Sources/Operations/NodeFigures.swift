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
    /// A short digest of the settings that all nodes should share.
    public let configHash: String
    /// Each shard's figures.
    public let shards = Registry<ShardStatistics>()
    /// The bus's figures.
    public let bus = BusStatistics()
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

    /// Figures of the node `name` (ASCII), which logs in at Redis as `user`.
    public init(_ limits: Limits, name: String, redisUser user: String, configHash: String) {
        self.configHash = configHash
        masters = MasterFigures(addressesMax: limits.clusterNodesMax)
        loads = Guarded(LoadBook(user: user))
        servers = Guarded(
            ServerBook(evictionWarnMs: limits.evictionWarnMs, percentMax: limits.redisMemoryPercent))
        outbox = Guarded(OutboxBook(lateMs: limits.outboxLateMs))
        nodes = Guarded(NodeBook(NodeEntry(.gateway, name: Array(name.utf8)), boundMs: limits.clockMs))
    }
}
