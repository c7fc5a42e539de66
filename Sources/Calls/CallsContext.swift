public import Commands
import Configuration
public import Core
public import EventLogs
public import Operations
public import RedisLink
import Rights
public import Service

/// The services that commands use, one value for each shard.
public struct CallsContext {
    /// The node's name.
    public let nodeName: String
    /// The shard's number, from 0; it begins the ids of questions.
    public let shard: Int
    /// The number of shards of the node, from 1.
    public let shardCount: Int
    /// The limits of answers, questions and retries.
    public let limits: Limits
    /// The link for writing and reading scripts.
    public let link: any RedisCalls
    /// The links that wait for replicas; `nil` where no acknowledgement waits for them.
    public let replicas: ReplicaWaits?
    /// The scripts of all served packs, with their commands.
    public let library: ScriptLibrary
    /// The scripts that the gateway calls for itself.
    public let scripts: EventLogScripts
    /// Key names, namespaces and the place of the outbox.
    public let settings: CommandSettings
    /// Decides which commands a caller may use.
    public let callRights: CallRights
    /// Signs the tokens that scripts grant.
    public let gate: CallerGate
    /// The rates of users.
    public let rates: CallerRates
    /// The budgets that calls are charged to.
    public let budgets: Budgets
    /// The queue in which reading commands take their turns.
    public let reads: ReadScheduler
    /// The counters of the shard.
    public let statistics: ShardStatistics
    /// The log, for faults of scripts and couriers.
    public let log: Log
    /// Monotonic milliseconds.
    public let nowMs: () -> Int

    /// The services of one shard; `nowMs` is its clock.
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
