import Core
import EventLogs
import Operations
import Rights
import Service
import Sessions

/// The services by which a shard reads changes of rights and withdraws topics from its sessions.
struct RightsContext {
    let clock: ShardClock
    /// Whether the clock of all nodes is known.
    let isClockSettled: () -> Bool
    let limits: Limits
    /// The rights in Redis.
    let store: RightsStore
    let topics: EventLog
    let access: AccessPolicy
    let gate: CallerGate
    let health: Health
    /// The sessions of this shard.
    let sessions: () -> [Session]
    /// Makes every shard check its sessions; false when one of them could not be notified.
    let broadcast: (RightsChange) -> Bool
}
