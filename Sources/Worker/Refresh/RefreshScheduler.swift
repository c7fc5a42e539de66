import Commands
import Configuration
import Core
import Reactors
import RedisLink
import Service

/// Runs the due refreshes of the catalogue, under the token of their partition's lease.
///
/// Thread: the worker's.
final class RefreshScheduler {
    /// The token of a partition's lease; `nil` when it may not be worked on.
    typealias Tokens = (_ partition: Int, _ nowMs: Int) -> Int?

    private let parts: WorkerParts
    private let link: any RedisCalls
    private let runner: CommandRunner
    private let reactor: Reactor
    private let figures: WorkerFigures
    private let tokens: Tokens
    /// Called when a token was refused as too old.
    private let onFenced: (_ partition: Int, _ token: Int) -> Void
    private let refreshes: [CommandDescriptor]
    private let patterns: [(refresh: Int, pattern: KeyspacePattern)]
    private var queue: RefreshQueue
    private var discovery: Discovery
    private var toldOverflows = 0

    /// Events by key, and every class of events that can change a value.
    ///
    /// The classes are generic (DEL, RENAME, EXPIRE), strings, lists, sets, hashes, sorted sets, streams, expired and
    /// evicted keys.
    static let flags = Array("Kg$lshzxet".utf8)

    init(
        parts: WorkerParts, link: any RedisCalls, runner: CommandRunner, reactor: Reactor, figures: WorkerFigures,
        tokens: @escaping Tokens, onFenced: @escaping (_ partition: Int, _ token: Int) -> Void
    ) {
        self.parts = parts
        self.link = link
        self.runner = runner
        self.reactor = reactor
        self.figures = figures
        self.tokens = tokens
        self.onFenced = onFenced
        refreshes = parts.library.catalogue.refreshes
        patterns = refreshes.enumerated().flatMap { index, descriptor in
            (descriptor.refresh?.triggers ?? []).map {
                (index, KeyspacePattern($0, keys: parts.keys, database: parts.redis.url.database))
            }
        }
        let limits = parts.limits
        queue = RefreshQueue(
            RefreshQueue.Limits(
                windowsMs: refreshes.map { $0.refresh?.coalesceMs ?? 20 }, sweepMs: limits.worker.sweepMs,
                sweepMaxMs: limits.worker.sweepMaxMs, inFlightMax: limits.worker.refreshesMax,
                knownMax: limits.worker.refreshIDsMax))
        discovery = Discovery(pauseMs: limits.scanPauseMs, intervalMs: limits.worker.sweepMs)
    }

    /// The patterns to subscribe to.
    var globs: [[UInt8]] { patterns.map(\.pattern.glob) }

    /// The number of refreshes of ids known.
    var knownCount: Int { queue.count }

    /// Milliseconds that the last search of all keys took.
    var discoveryMs: Int? { discovery.lastMs }

    /// The time of the next action.
    func nextMs(nowMs: Int) -> Int {
        guard link.isReady, !refreshes.isEmpty else { return Int.max }
        return min(queue.nextDueMs() ?? Int.max, discovery.dueMs)
    }

    // MARK: What happens

    /// A message on a channel; ignored unless it reports a key that a trigger makes.
    func told(channel: [UInt8], nowMs: Int) {
        guard let key = KeyspacePattern.key(ofChannel: channel, database: parts.redis.url.database) else { return }
        for (refresh, pattern) in patterns {
            guard let id = pattern.id(ofKey: key) else { continue }
            figures.events += 1
            queue.changed(refresh: refresh, id: id, nowMs: nowMs)
        }
    }

    /// Events may have been missed: everything known runs, and all keys are searched.
    func eventsMayBeMissing(nowMs: Int) {
        queue.refreshAll(nowMs: nowMs)
        discovery.restart()
    }

    /// Records whether Redis reports every change at this moment.
    func trustEvents(_ areTold: Bool, nowMs: Int) {
        queue.trustChanges(areTold, nowMs: nowMs)
    }

    /// Partitions were gained.
    func hold(_ partitions: [Int], nowMs: Int) {
        queue.hold(partitions, nowMs: nowMs)
    }

    /// Partitions were lost.
    func leave(_ partitions: [Int]) {
        queue.leave(partitions)
    }

    /// Begins the due refreshes.
    func work(nowMs: Int) {
        guard link.isReady, !refreshes.isEmpty else { return }
        scan(nowMs: nowMs)
        while let run = queue.next(nowMs: nowMs) {
            begin(run, nowMs: nowMs)
            // A lost link fails every call at once.
            guard link.isReady else { break }
        }
        tellOverflow()
    }

    // MARK: Refreshes

    private func begin(_ run: RefreshQueue.Run, nowMs: Int) {
        figures.lagMs = max(figures.lagMs, nowMs - run.dueMs)
        let descriptor = refreshes[run.refresh]
        guard let token = tokens(run.partition, nowMs), let argument = descriptor.arguments.first,
            let bound = try? ArgumentBinder.bind(
                descriptor, body: nil, path: [TextArgument(name: argument.wire, value: run.id)], caller: .worker)
        else { return queue.finished(run.slot, .failed, nowMs: nowMs) }
        runner.run(descriptor, bound, caller: .worker, operation: nil, fence: token) { [weak self] result in
            self?.ended(run, token: token, result)
        }
    }

    private func ended(_ run: RefreshQueue.Run, token: Int, _ outcome: CommandOutcome) {
        let nowMs = reactor.nowMs
        switch outcome {
        case .answer(let answer):
            figures.refreshes += 1
            return queue.finished(run.slot, done(answer.json, nowMs), nowMs: nowMs)
        case .fenced:
            figures.fenced += 1
            onFenced(run.partition, token)
        case .refused, .stale: figures.failures += 1
        }
        queue.finished(run.slot, .failed, nowMs: nowMs)
    }

    /// Reads `{"idle": ..., "again_ms": ...}`; an absent member has no effect.
    private func done(_ answer: [UInt8], _ nowMs: Int) -> RefreshQueue.Outcome {
        guard let root = try? JSON(parsing: answer, limits: parts.limits.answers).root else {
            return .done(idle: false, againMs: nil)
        }
        let inMs = root["again_ms"]?.double.map { min(max($0 - Double(parts.clock.wallMs), 0), 86_400_000) }
        return .done(idle: root["idle"]?.bool == true, againMs: inMs.map { nowMs + Int($0.rounded(.up)) })
    }

    private func tellOverflow() {
        guard queue.overflows > toldOverflows else { return }
        // Logged once, and again only when ten times as many were left out.
        let isNews = queue.overflows >= toldOverflows * 10
        guard isNews else { return }
        toldOverflows = queue.overflows
        parts.log.write(
            .error, "more ids than the worker may know: the rest wait for the next look through the keys",
            [("limit", "refreshIDsMax=\(parts.limits.worker.refreshIDsMax)"), ("leftOut", "\(queue.overflows)")])
    }

    // MARK: Discovery

    private func scan(nowMs: Int) {
        guard case .scan(let cursor, let isFirst) = discovery.next(nowMs: nowMs) else { return }
        if isFirst { queue.discoveryBegan() }
        let prefix = parts.keys.prefix
        let pattern = prefix.isEmpty ? nil : KeyspacePattern.escaped(prefix) + [UInt8(ascii: "*")]
        link.call(KeyPage.call(at: cursor, matching: pattern, count: parts.limits.scanKeys)) { [weak self] result in
            self?.scanned(result)
        }
    }

    private func scanned(_ result: Result<RESPValue, RedisFailure>) {
        let nowMs = reactor.nowMs
        guard case .success(let reply) = result, let page = KeyPage(reply) else {
            return discovery.failed(nowMs: nowMs)
        }
        for key in page.names {
            for (refresh, pattern) in patterns {
                guard let id = pattern.id(ofKey: key) else { continue }
                queue.found(refresh: refresh, id: id, nowMs: nowMs)
            }
        }
        if discovery.replied(cursor: page.cursor, nowMs: nowMs) { queue.discoveryEnded() }
    }
}
