import Commands
import Configuration
import Core
import Reactors
import RedisLink
import Rights
import Service

/// The parts of a worker that can be misconfigured, and those that its components share.
///
/// Immutable.
struct WorkerParts: Sendable {
    /// A random name that identifies the worker in leases, logs and `CLIENT LIST`.
    let name = SecureRandom.text(byteCount: 9)
    /// The clock that decides when bookings and everything else are due.
    let clock = NodeClock()
    /// The times for which the whole process was suspended.
    let stalls = ProcessStalls()
    let redis: RedisTarget
    let library: ScriptLibrary
    let commands: CommandSettings
    let limits: Limits
    let keyspaceEvents: KeyspaceEvents
    let lease: ScriptID
    let publish: ScriptID
    let setMember: ScriptID
    let expireCalls: ScriptID
    let outboxDone: ScriptID
    let outboxFigures: ScriptID
    /// The file that stores the time of Redis's data, and the time that an earlier worker stored.
    let dataTimeFile: String?
    let dataSeenMs: Int?
    /// The listener of operations; `nil` for none.
    let operationsListener: OperationsListener?
    let log: Log

    /// `ownMs` is the time of calls for tests of packs; `nil`: the clock's.
    init(_ settings: WorkerSettings, log: Log, ownMs: (@Sendable () -> Int)? = nil) throws(StartProblem) {
        var redis = try RedisTarget.reading(settings.redis, limits: settings.limits)
        redis.layout = LayoutGuard(settings.keys)
        redis.seal = ownMs == nil ? RunSealSettings(settings.keys, settings.limits) : nil
        self.redis = redis
        library = try ScriptLibrary(
            packs: settings.packs, directory: settings.scripts, namespaces: settings.namespaces.keys, reservedPaths: [],
            numbers: settings.packNumbers, isSharded: redis.topology.isSharded, hasOwnTime: ownMs != nil)
        lease = try library.table.required("lease")
        publish = try library.table.required("publish")
        setMember = try library.table.required("set_member")
        expireCalls = try library.table.required("expire_calls")
        outboxDone = try library.table.required("outbox_done")
        outboxFigures = try library.table.required("outbox_figures")
        limits = settings.limits
        keyspaceEvents = settings.keyspaceEvents
        commands = CommandSettings(
            keys: settings.keys, policies: settings.namespaces,
            outbox: OutboxRoom(followUpsMax: settings.limits.outboxFollowUpsMax),
            doneSeconds: settings.limits.relayedSeconds,
            membersMax: settings.limits.membersMax, callsMax: settings.limits.callsMax,
            answerLimits: settings.limits.answers, answerBytesMax: settings.limits.answerBytesMax,
            nowMs: ownMs ?? { [clock] in clock.wallMs })
        dataTimeFile = settings.dataTimeFile
        dataSeenMs =
            try settings.dataTimeFile.map { (file) throws(StartProblem) in try DataWatch.remembered(file) } ?? nil
        operationsListener = try settings.ops.map { (address) throws(StartProblem) in try OperationsListener(address) }
        self.log = log
    }

    var keys: Keys { commands.keys }
}
