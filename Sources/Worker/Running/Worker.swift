import Commands
import Configuration
import Connections
import Core
import Reactors
import RedisLink
import Service

/// A worker on its thread: leases, refreshes and the outbox over links for commands and for events.
///
/// Callbacks only record events; the worker acts on them once, at the end of each tick. Thread: its own.
final class Worker: KeyEventsOwner, NodeResident {
    private let parts: WorkerParts
    private let reactor: Reactor
    private let redis: WholeRedis
    private var link: any RedisLinks { redis.link }
    private var events: KeyEvents?
    private let figures = WorkerFigures()
    private var refreshes: RefreshScheduler?
    private var relay: OutboxRelay?
    private var timer: ReactorTimer?
    private var listener: Listener?
    private let outboxWatch: OutboxWatch
    private let dataWatch: DataWatch
    private let calls: CallsWatch
    private let nodes: NodeWatch
    private var book: LeaseTable
    private var askMs = Int.min
    private var isAsking = false
    private var quickAsks = 0
    private var figuresMs: Int
    /// The time at which the servers are asked again for the history they write.
    private var recheckMs = Int.min
    private var toldFailure = ""
    private var isEnding = false
    private let onReady: () -> Void
    private var isReady = false

    private static let figuresEveryMs = 60_000
    private static let callsEveryMs = 5_000

    init(_ parts: WorkerParts, reactor: Reactor, onReady: @escaping () -> Void) throws(Errno) {
        self.parts = parts
        self.reactor = reactor
        self.onReady = onReady
        book = LeaseTable(name: parts.name, leaseMs: parts.limits.worker.leaseMs)
        figuresMs = reactor.nowMs + Worker.figuresEveryMs
        dataWatch = DataWatch(
            keys: parts.keys, file: parts.dataTimeFile, seenMs: parts.dataSeenMs, log: parts.log)
        calls = CallsWatch(parts, figures, everyMs: Worker.callsEveryMs)
        outboxWatch = OutboxWatch(parts)
        let context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(parts.limits, reactors: 1))
        let name = "switchboard-worker-" + String(decoding: parts.name, as: UTF8.self)
        let reports = Reports()
        let redis = try WholeRedis(context, parts.redis, name: name, registry: parts.library.table.registry) {
            reports.take($0)
        }
        self.redis = redis
        let link = redis.link
        nodes = Worker.nodeWatch(parts, link)
        reports.take = { [unowned self] in take($0) }
        let throttle = FaultThrottle(parts.log, reactor)
        let runner = CommandRunner(
            link: link, scripts: parts.library.table, settings: parts.commands,
            commands: parts.library.catalogue.command(named:)
        ) {
            throttle.write(script: $0, fault: $1)
        }
        let refreshes = RefreshScheduler(
            parts: parts, link: link, runner: runner, reactor: reactor, figures: figures,
            tokens: { [unowned self] in book.token(of: $0, nowMs: $1) },
            onFenced: { [unowned self] in fenced($0, $1) })
        self.refreshes = refreshes
        relay = OutboxRelay(parts: parts, link: link, runner: runner, reactor: reactor, figures: figures)
        timer = try ReactorTimer(reactor) {}
        let wish = KeyEvents.Wish(
            patterns: refreshes.globs, channels: [parts.keys.outbox],
            flags: refreshes.globs.isEmpty ? nil : Worker.flags(parts), pingMs: parts.limits.redisProbeMs,
            pongMs: parts.limits.redisProbeTimeoutMs)
        events = try KeyEvents(redis, wish, name: name + "-events", owner: self)
        listener = try parts.operationsListener?.open(context, limits: parts.limits) { [unowned self] in
            OperationsPeer(reactor: reactor, limits: parts.limits) { [unowned self] in report.response(to: $0) }
        }
        reactor.onTickEnd = { [unowned self] in work() }
        // The first tick begins at once.
        timer?.set(atMs: reactor.nowMs)
    }

    private static func nodeWatch(_ parts: WorkerParts, _ link: any RedisCalls) -> NodeWatch {
        NodeWatch(
            .worker, name: parts.name, link: link, keys: parts.keys, clock: parts.clock, log: parts.log,
            limits: parts.limits)
    }

    private static func flags(_ parts: WorkerParts) -> KeyspaceFlags {
        KeyspaceFlags(
            RefreshScheduler.flags, maySet: parts.keyspaceEvents == .auto, everyMs: parts.limits.worker.sweepMs)
    }

    /// Lets the links be made before the object that takes their reports.
    private final class Reports {
        var take: (WholeRedis.Update) -> Void = { _ in }
    }

    // MARK: Every tick

    private func work() {
        let nowMs = reactor.nowMs
        guard !isEnding else { return }
        apply(book.expire(nowMs: nowMs), nowMs)
        nodes.work(nowMs: nowMs)
        ask(nowMs)
        refreshes?.trustEvents(events?.isComplete == true, nowMs: nowMs)
        refreshes?.work(nowMs: nowMs)
        relay?.work(nowMs: nowMs) { [book] in book.token(of: Partition.outbox, nowMs: nowMs) != nil }
        events?.work(nowMs: nowMs)
        // After a lease it would read the time that the lease has just stored: no time is newer for a while.
        if isAsking { dataWatch.work(link, nowMs: nowMs) }
        calls.work(link, nowMs: nowMs)
        if recheckMs <= nowMs {
            recheckMs = nowMs + parts.limits.redisProbeMs
            link.recheckHistory()
        }
        outboxWatch.work(link, slots: relay?.activeSlots, nowMs: nowMs)
        tellTrouble()
        if figuresMs <= nowMs { tellFigures(nowMs) }
        becomeReady()
        var nextMs = min(figuresMs, recheckMs, refreshes?.nextMs(nowMs: nowMs) ?? Int.max, relay?.nextMs ?? Int.max)
        nextMs = min(nextMs, events?.nextMs ?? Int.max)
        if book.heldCount > 0 { nextMs = min(nextMs, book.endMs) }
        if link.isReady { nextMs = min(nextMs, outboxWatch.dueMs, nodes.nextMs) }
        if link.isReady && parts.clock.isSettled && !isAsking { nextMs = min(nextMs, askMs) }
        timer?.set(atMs: max(nextMs, nowMs + 1))
    }

    private func becomeReady() {
        // Without a right to the events a worker still works, by sweeps.
        guard !isReady, book.endMs > reactor.nowMs, quickAsks == 0, events?.isSettled == true else { return }
        isReady = true
        parts.log.write(
            .info, "working",
            [
                ("worker", String(decoding: parts.name, as: UTF8.self)), ("partitions", "\(book.heldCount)"),
                ("workers", "\(book.workers.count)"),
            ])
        onReady()
    }

    // MARK: Leases

    private func ask(_ nowMs: Int) {
        // Redis's time decides what is due, so no work begins before it is known.
        guard link.isReady, parts.clock.isSettled, !isAsking, askMs <= nowMs else { return }
        isAsking = true
        askMs = nowMs + parts.limits.worker.leaseMs / 3
        let wanted = book.ask(nowMs: nowMs)
        link.run(leaseCall(wanted, leaseMs: parts.limits.worker.leaseMs), lane: nil) { [weak self] result in
            self?.answered(result)
        }
    }

    private func leaseCall(_ wanted: [Int], leaseMs: Int) -> ScriptCall {
        let list = wanted.map { String($0) }.joined(separator: " ")
        return ScriptCall(
            script: parts.lease, keys: [parts.keys.workers, parts.keys.leases],
            arguments: [parts.name, Array(String(leaseMs).utf8), Array(list.utf8)])
    }

    private func answered(_ result: Result<RESPValue, RedisFailure>) {
        isAsking = false
        let nowMs = reactor.nowMs
        guard case .success(let value) = result, let reply = LeaseTable.Reply(value) else {
            askMs = min(askMs, nowMs + parts.limits.worker.leaseMs / 10)
            if case .failure(let failure) = result { tellTrouble("no leases: " + failure.metricLabel, failure.detail) }
            return
        }
        let change = book.replied(reply)
        apply(change, nowMs)
        // Partitions that other workers still hold cannot be gained by asking at once.
        if change.mustAskAgain && quickAsks < 3 {
            quickAsks += 1
            askMs = nowMs
        } else {
            quickAsks = 0
        }
    }

    private func fenced(_ partition: Int, _ token: Int) {
        let nowMs = reactor.nowMs
        // The refusal of an older token does not concern the present one.
        guard book.token(of: partition, nowMs: nowMs) == token else { return }
        apply(book.refuse(partition), nowMs)
        askMs = nowMs
    }

    private func apply(_ change: LeaseTable.Change, _ nowMs: Int) {
        guard !change.gained.isEmpty || !change.lost.isEmpty else { return }
        figures.leaseChanges += change.gained.count + change.lost.count
        refreshes?.leave(change.lost.filter { $0 < Partition.ids })
        refreshes?.hold(change.gained.filter { $0 < Partition.ids }, nowMs: nowMs)
        if change.lost.contains(Partition.outbox) { relay?.leave() }
        if change.gained.contains(Partition.outbox) { relay?.hold() }
        parts.log.write(
            .info, "leases changed",
            [
                ("gained", "\(change.gained.count)"), ("lost", "\(change.lost.count)"),
                ("held", "\(book.heldCount)"), ("workers", "\(book.workers.count)"),
            ])
    }

    // MARK: Links

    private func take(_ update: WholeRedis.Update) {
        switch update {
        case .connected(let server):
            events?.connected(server)
            connected()
        case .historyChanged(let master, let before, let keepsEpochs):
            FailoverLog.tell(master, before: before, keepsEpochs: keepsEpochs, part: "worker", parts.log)
        case .watched(.placed(let placement)): events?.follow(placement)
        case .watched(.sentinels(let report)): SentinelLog.tell(report, parts.log)
        case .watched(.unreachable(let failure)): patternsLost(failure)
        case .watched(.damaged(let uncovered, _)):
            guard let first = uncovered.first else { return }
            let text = "\(first.lowerBound)-\(first.upperBound)"
            parts.log.write(.warn, "slots have no master", [("first", text), ("ranges", "\(uncovered.count)")])
        }
    }

    private func connected() {
        toldFailure = ""
        parts.log.write(.info, "connected to redis", [])
        nodes.linkIsNew(nowMs: reactor.nowMs)
        dataWatch.connected(link, nowMs: reactor.nowMs)
        askMs = reactor.nowMs
        // Redis may have been restored to an earlier state.
        refreshes?.eventsMayBeMissing(nowMs: reactor.nowMs)
        relay?.restart()
    }

    func patternsLive() {
        toldFailure = ""
        refreshes?.eventsMayBeMissing(nowMs: reactor.nowMs)
        relay?.mayHaveMissed()
    }

    func patternMessage(_ channel: [UInt8], _ payload: [UInt8]) {
        guard channel != parts.keys.outbox else {
            relay?.woken(payload)
            return
        }
        refreshes?.told(channel: channel, nowMs: reactor.nowMs)
    }

    func patternsLost(_ failure: RedisFailure) {
        tellTrouble("keyspace events lost: " + failure.metricLabel, failure.detail)
    }

    func keyspaceFlags(_ state: KeyspaceFlags.State) {
        KeyspaceLog.write(state, sweepMs: parts.limits.worker.sweepMs, parts.log)
    }

    /// Logs why there is no link; once per reason.
    private func tellTrouble() {
        guard !link.isReady, let failure = link.lastFailure else { return }
        tellTrouble("no connection to redis: " + failure.metricLabel, failure.detail)
    }

    private func tellTrouble(_ message: String, _ detail: String) {
        guard toldFailure != message else { return }
        toldFailure = message
        parts.log.write(.warn, message, [("detail", detail)])
    }

    private func tellFigures(_ nowMs: Int) {
        figuresMs = nowMs + Worker.figuresEveryMs
        parts.log.write(
            .info, "figures",
            figures.fields + [
                ("partitions", "\(book.heldCount)"), ("workers", "\(book.workers.count)"),
                ("known", "\(refreshes?.knownCount ?? 0)"), ("outbox", "\(relay?.waitingCount ?? 0)"),
                ("scanMs", refreshes?.discoveryMs.map { "\($0)" } ?? "none"),
            ])
        figures.lagMs = 0
    }

    /// The present state, for HTTP.
    private var report: WorkerReport {
        var report = WorkerReport(stalls: parts.stalls)
        report.figures = figures.counts
        report.nodes = nodes.book.withLock { $0 }
        let isAlone = report.nodes?.isAlone == true
        report.isReady = link.isReady && book.endMs > reactor.nowMs && !isAlone
        report.trouble = link.isReady ? isAlone ? "clock" : "" : link.lastFailure?.metricLabel ?? ""
        (report.partitions, report.workers) = (book.heldCount, book.workers.count)
        (report.known, report.scanMs) = (refreshes?.knownCount ?? 0, refreshes?.discoveryMs)
        report.lagMs = figures.lagMs
        report.outboxInHand = relay?.waitingCount ?? 0
        (report.outbox, report.outboxDead) = (outboxWatch.figures, outboxWatch.dead)
        report.calls = calls.calls
        return report
    }

    // MARK: The end

    /// Does nothing: a worker has no file that may change while it runs.
    func reload() {}

    /// Returns every lease, so that others need not wait for its end, then ends the loop.
    func end() {
        guard !isEnding else { return }
        isEnding = true
        tellFigures(reactor.nowMs)
        listener?.close()
        listener = nil
        _ = book.dropAll()
        nodes.leave()
        // Calls of the link run in order: all calls begun before are done when this one is answered.
        link.run(leaseCall([], leaseMs: 0), lane: nil) { [reactor] _ in reactor.stop() }
    }
}
