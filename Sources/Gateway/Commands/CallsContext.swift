import Commands
import Configuration
import Core
import Operations
import RedisLink
import Rights
import Service

/// The services of a shard that its commands use.
struct CallsContext {
    /// The node's name.
    let nodeName: String
    /// The shard's number, and the number of shards of the node.
    let shard: Int
    let shardCount: Int
    let limits: Limits
    let link: any RedisCalls
    let replicas: ReplicaWaits?
    let library: ScriptLibrary
    let scripts: EventLogScripts
    let settings: CommandSettings
    let callRights: CallRights
    let gate: CallerGate
    let rates: CallerRates
    let budgets: Budgets
    let reads: ReadScheduler
    let statistics: ShardStatistics
    let log: Log
    /// Monotonic milliseconds.
    let nowMs: () -> Int
}
