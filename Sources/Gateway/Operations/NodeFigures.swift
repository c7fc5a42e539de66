import Configuration
import Core
import Reactors
import RedisLink
import Service

/// The figures of a node: what its threads count, and what it has learned of Redis and of other processes.
///
/// Metrics and health are made from them. Thread: any.
final class NodeFigures: Sendable {
    /// When the node was made, monotonic milliseconds.
    let startedMs = Clock.monotonicMs()
    /// Each shard's figures.
    let shards = Registry<ShardStatistics>()
    /// The broker's figures.
    let bus = BusStatistics()
    /// The figures of the broker's loop; `nil` until it runs.
    let busLoop = Guarded<LoopStatistics?>(nil)
    /// Reloads of certificate and keys.
    let reloads = ReloadStatistics()
    /// Periods in which the whole process stood still.
    let stalls = ProcessStalls()
    /// The links to single servers.
    let redis = Registry<RedisStatistics>()
    /// The group of Sentinels.
    let sentinel = SentinelStatistics()
    /// The masters of a cluster, and the links to them.
    let masters: MasterFigures
    /// The masters' answers about loading their own files.
    let loads: Guarded<LoadBook>
    /// Memory, evictions and persistence of the masters.
    let servers: Guarded<ServerBook>
    /// State of the outbox.
    let outbox: Guarded<OutboxBook>
    /// Number of live workers; `nil` while it is unknown.
    let workers = Guarded<Int?>(nil)
    /// Calls of outside services, by service.
    let calls = Guarded<[String: CallsFigures]>([:])
    /// State of this machine's clock, and the other processes that share the Redis.
    let nodes: Guarded<NodeBook>

    /// Figures of the node `name` (ASCII), which logs in at Redis as `user`.
    init(_ limits: Limits, name: String, redisUser user: String) {
        masters = MasterFigures(addressesMax: limits.clusterNodesMax)
        loads = Guarded(LoadBook(user: user))
        servers = Guarded(
            ServerBook(evictionWarnMs: limits.evictionWarnMs, percentMax: limits.redisMemoryPercent))
        outbox = Guarded(OutboxBook(lateMs: limits.outboxLateMs))
        nodes = Guarded(NodeBook(NodeEntry(.gateway, name: Array(name.utf8)), boundMs: limits.clockMs))
    }
}
