import Commands
public import Configuration
import Connections
import Core
import Reactors
import RedisLink
import Rights
public import Service

/// Ends the epochs of topics in Redis, after its data were restored from a copy.
///
/// Redis then holds positions that look like the newest and are not; with every write synced no fence detects it. Live
/// clients receive a `gap` for an ended epoch, returning clients `recovered: false`. Thread: the caller's.
public final class EpochReset {
    /// The result of a reset.
    public struct Outcome: Sendable {
        /// Positions whose epoch was ended; in a dry run, those that would be.
        public let ended: Int
        /// Positions whose epoch had been ended in this life of Redis before.
        public let before: Int
        /// Positions that Redis refused to read or change.
        public let refused: Int
        /// The reason why the search was incomplete; `nil` when all keys were read.
        public let failure: String?
    }

    private let settings: ResetEpochsSettings
    private let reactor: Reactor
    private let script: ScriptID
    private var redis: WholeRedis?
    private var timer: ReactorTimer?
    private var sweep: EpochSweep
    private var epochs = EpochSource()
    private var failure: String?

    /// Makes everything except the connection.
    public init(_ settings: ResetEpochsSettings) throws(StartProblem) {
        self.settings = settings
        var target = try RedisTarget.reading(settings.redis, limits: settings.limits)
        target.layout = LayoutGuard(settings.keys)
        let library = try ScriptLibrary(
            packs: [], directory: nil, namespaces: [String](), reservedPaths: [],
            isSharded: target.topology.isSharded)
        do {
            // Only this script is loaded.
            let table = try ScriptTable(["reset_epoch"].compactMap { library.table[$0]?.source })
            script = try table.required("reset_epoch")
            reactor = try Reactor(wake: try Wake())
            sweep = EpochSweep(
                patterns: settings.topics.compactMap { TopicPattern($0) },
                keys: settings.keys, pauseMs: settings.limits.scanPauseMs,
                nowMs: reactor.nowMs)
            let context = ConnectionContext(
                reactor: reactor, limits: ConnectionLimits(settings.limits, reactors: 1))
            redis = try WholeRedis(
                context, target, name: "switchboard-reset-epochs", registry: table.registry,
                tell: { [unowned self] in if $0.isChange { changed() } })
            timer = try ReactorTimer(reactor) { [unowned self] in work() }
        } catch {
            throw error as? StartProblem ?? StartProblem("cannot start: \(error)")
        }
    }

    /// Reads all keys; returns when that is done, or when Redis was unavailable for too long.
    public func run() -> Outcome {
        timer?.set(atMs: reactor.nowMs)
        reactor.run()
        let figures = sweep.figures
        let refusal = figures.refused > 0 ? sweep.refusal.map { "\($0.metricLabel) \($0.detail)" } : nil
        redis?.stop()
        timer?.invalidate()
        return Outcome(
            ended: figures.ended, before: figures.before, refused: figures.refused, failure: failure ?? refusal)
    }

    /// A connection was made, or a cluster has other masters.
    private func changed() {
        // Until the cluster is complete, some slots would be skipped.
        guard let life = redis?.life, !life.isEmpty else { return }
        sweep.connected(life: life, nowMs: reactor.nowMs)
        work()
    }

    private func work() {
        let nowMs = reactor.nowMs
        switch sweep.next(nowMs: nowMs) {
        case .wait: break
        case .scan(let cursor): scan(cursor)
        case .end(let topics): for topic in topics { end(topic) }
        case .finished: return reactor.stop()
        case .givenUp:
            let last = redis?.isWhole == false ? nil : sweep.refusal
            failure =
                "Redis cannot be used: "
                + (last.map { "\($0.metricLabel) \($0.detail)" } ?? redis?.trouble ?? "no answer")
            return reactor.stop()
        }
        // A later call detects that there is no progress.
        timer?.set(atMs: max(nowMs + 1, min(sweep.nextMs, nowMs + 1_000)))
    }

    private func scan(_ cursor: [UInt8]) {
        let pattern = KeyspacePattern.escaped(settings.keys.prefix) + Array("*#meta".utf8)
        let call = KeyPage.call(at: cursor, matching: pattern, count: settings.limits.scanKeys)
        redis?.link.call(call) { [unowned self] result in
            sweep.scanned((try? result.get()).flatMap { KeyPage($0) }, nowMs: reactor.nowMs)
            timer?.set(atMs: min(sweep.nextMs, reactor.nowMs + 1_000))
        }
    }

    private func end(_ topic: Topic) {
        let keys = settings.keys
        let mode = settings.isDryRun ? "look" : settings.again ? "again" : "reset"
        guard let redis else { return }
        // While the server is away the call waits for it, and the server that then answers has another run id.
        let life = redis.runID(of: keys.meta(topic)) ?? epochs.next()
        let call = ScriptCall(
            script: script, keys: [keys.meta(topic)],
            arguments: [keys.channel(topic), life, epochs.next(), Array(mode.utf8)])
        redis.link.run(call, lane: nil) { [unowned self] result in
            sweep.answered(topic, result, nowMs: reactor.nowMs)
            if sweep.nextMs != Int.max { timer?.set(atMs: sweep.nextMs) }
        }
    }
}
