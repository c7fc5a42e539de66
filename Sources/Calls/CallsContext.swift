public import Commands
import Configuration
public import Core
public import EventLogs
public import Operations
public import RedisLink
import Rights
public import Service

/// The services of a shard that its commands use.
public struct CallsContext {
    /// The node's name.
    public let nodeName: String
    /// The shard's number, and the number of shards of the node.
    public let shard: Int
    public let shardCount: Int
    public let limits: Limits
    public let link: any RedisCalls
    public let replicas: ReplicaWaits?
    public let library: ScriptLibrary
    public let scripts: EventLogScripts
    public let settings: CommandSettings
    public let callRights: CallRights
    public let gate: CallerGate
    public let rates: CallerRates
    public let budgets: Budgets
    public let reads: ReadScheduler
    public let statistics: ShardStatistics
    public let log: Log
    /// Monotonic milliseconds.
    public let nowMs: () -> Int

    /// Takes all members.
    public init(
        nodeName: String, shard: Int, shardCount: Int, limits: Limits, link: any RedisCalls, replicas: ReplicaWaits?,
        library: ScriptLibrary, scripts: EventLogScripts, settings: CommandSettings, callRights: CallRights,
        gate: CallerGate, rates: CallerRates, budgets: Budgets, reads: ReadScheduler, statistics: ShardStatistics,
        log: Log, nowMs: @escaping () -> Int
    ) {
        self.nodeName = nodeName
        self.shard = shard
        self.shardCount = shardCount
        self.limits = limits
        self.link = link
        self.replicas = replicas
        self.library = library
        self.scripts = scripts
        self.settings = settings
        self.callRights = callRights
        self.gate = gate
        self.rates = rates
        self.budgets = budgets
        self.reads = reads
        self.statistics = statistics
        self.log = log
        self.nowMs = nowMs
    }
}
