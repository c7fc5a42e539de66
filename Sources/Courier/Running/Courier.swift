import Configuration
import Connections
import Core
import Reactors
import RedisLink
import Service

/// A courier on its thread: services and webhooks over one link for commands, and links that wait for input.
///
/// Callbacks only record events; the courier acts on them once, at the end of each tick. Thread: its own.
final class Courier: NodeResident {
    private let parts: CourierParts
    private let reactor: Reactor
    private let redis: WholeRedis
    private var link: any RedisCalls { redis.link }
    private let serviceEngine: WebEngine
    private let services: ServiceDispatcher
    private let push: PushService?
    private let webhooks: WebhookDispatcher
    private let keySet: KeySetFetcher?
    private let nodes: NodeWatch
    private var timer: ReactorTimer?
    private var listener: Listener?
    private let onReady: () -> Void
    private var isReady = false
    private var reportedFailure = ""
    /// The time at which the shutdown stops waiting; `nil` before a shutdown.
    private var endMs: Int?

    init(_ parts: CourierParts, reactor: Reactor, onReady: @escaping () -> Void) throws(Errno) {
        self.parts = parts
        self.reactor = reactor
        self.onReady = onReady
        let context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(parts.limits, reactors: 1))
        let reports = Reports()
        let name = "switchboard-courier-" + String(decoding: parts.name, as: UTF8.self)
        let redis = try WholeRedis(
            context, parts.redis, name: name, registry: parts.scripts.registry, tell: { reports.take($0) })
        self.redis = redis
        serviceEngine = try WebEngine(reactor, parts.webLimits(hostConnectionsMax: 4))
        push = try PushService(parts, link: redis.link, reactor: reactor)
        var all: [any OutsideService] = []
        for service in parts.services {
            all.append(
                SpotifyService(
                    service, secret: parts.secrets.services[service.name] ?? [], engine: serviceEngine
                ) { [unowned reactor] in reactor.nowMs })
        }
        if let push { all.append(push) }
        services = try ServiceDispatcher(parts, all, redis: redis, reactor: reactor)
        webhooks = try WebhookDispatcher(parts, redis: redis, reactor: reactor)
        let engine = serviceEngine
        keySet = parts.keySet.map {
            KeySetFetcher($0.url, path: $0.file, engine: engine, limits: parts.limits.courier, log: parts.log)
        }
        nodes = NodeWatch(
            .courier, name: parts.name, link: redis.link, keys: parts.keys, clock: parts.clock, log: parts.log,
            limits: parts.limits)
        timer = try ReactorTimer(reactor) {}
        nodes.onSettled = { [unowned self] in clockSettled() }
        reports.take = { [unowned self] in take($0) }
        listener = try parts.operationsListener?.open(context, limits: parts.limits) { [unowned self] in
            OperationsPeer(reactor: reactor, limits: parts.limits) { [unowned self] in report.response(to: $0) }
        }
        reactor.onTickEnd = { [unowned self] in work() }
        // The first tick begins at once.
        timer?.set(atMs: reactor.nowMs)
    }

    /// Lets the links be made before the object that takes their reports.
    private final class Reports {
        var take: (WholeRedis.Update) -> Void = { _ in }
    }

    private func take(_ update: WholeRedis.Update) {
        switch update {
        case .connected(let server): webhooks.connected(server)
        case .watched(.placed(let placement)): webhooks.follow(placement)
        case .watched(.sentinels(let report)): SentinelLog.tell(report, parts.log)
        case .historyChanged, .watched: break
        }
        if update.isChange { connected() }
    }

    private func connected() {
        reportedFailure = ""
        parts.log.write(.info, "connected to redis", [])
        guard !parts.onlyLooks else { return }
        nodes.linkIsNew(nowMs: reactor.nowMs)
    }

    /// Starts services and webhooks once Redis's time is known, which decides when calls and events are due.
    private func clockSettled() {
        services.connected()
        webhooks.begin()
    }

    private func work() {
        let nowMs = reactor.nowMs
        if !parts.onlyLooks {
            nodes.work(nowMs: nowMs)
            services.work(nowMs: nowMs)
            webhooks.work(nowMs: nowMs)
            if endMs == nil { keySet?.work(nowMs: nowMs) { [reactor] in reactor.nowMs } }
        }
        if let endMs, endMs <= nowMs || (services.isIdle && webhooks.isIdle) { return stop() }
        logTrouble()
        becomeReady()
        let workMs =
            parts.onlyLooks ? Int.max : min(services.nextMs, webhooks.nextMs, nodes.nextMs, keySet?.nextMs ?? Int.max)
        let nextMs = min(workMs, endMs ?? Int.max)
        // While Redis is unavailable its link reports the reconnect.
        timer?.set(atMs: link.isReady || endMs != nil ? max(nextMs, nowMs + 1) : nowMs + 1_000)
    }

    private func becomeReady() {
        guard !isReady, redis.isWhole, webhooks.isLive else { return }
        isReady = true
        parts.log.write(
            .info, "working",
            [
                ("courier", String(decoding: parts.name, as: UTF8.self)),
                ("services", services.services.map(\.name).joined(separator: ",")),
                ("receivers", webhooks.lanes.map(\.name).joined(separator: ",")),
            ])
        onReady()
    }

    /// Logs why there is no link; once per reason.
    private func logTrouble() {
        guard !redis.isWhole, let failure = redis.failure, reportedFailure != failure.metricLabel else { return }
        reportedFailure = failure.metricLabel
        parts.log.write(
            .warn, "no connection to redis", [("reason", failure.metricLabel), ("detail", failure.detail)])
    }

    private var report: CourierReport {
        var report = CourierReport(stalls: parts.stalls)
        report.nodes = nodes.book.withLock { $0 }
        let isAlone = report.nodes?.isAlone == true
        let isKeySetFresh = keySet?.isFresh(nowMs: reactor.nowMs) ?? true
        report.isReady = redis.isWhole && webhooks.isLive && endMs == nil && !isAlone && isKeySetFresh
        report.trouble =
            redis.isWhole ? isAlone ? "clock" : isKeySetFresh ? "" : "key_set" : redis.failure?.metricLabel ?? ""
        report.keySet = keySet.map { ($0.counts, $0.fetchedMs.map { reactor.nowMs - $0 }) }
        report.questions = (services.counts.answered, services.counts.failed)
        report.calls = (services.counts.called, services.counts.given)
        report.held = services.heldCount
        report.services = services.services.map { ($0.name, $0.requests, $0.failures, $0.isOpen) }
        report.push = push?.counts
        report.receivers = webhooks.lanes.map { lane in
            CourierReport.Receiver(
                name: lane.name, counts: lane.counts, busy: lane.busyCount, waiting: lane.waitingCount,
                isOpen: lane.isOpen)
        }
        return report
    }

    /// Reads the secrets of services and receivers again, and uses them from the next request on.
    func reload() {
        let secrets: CourierSecrets
        do {
            secrets = try CourierSecrets(parts.services, parts.receivers)
        } catch {
            return parts.log.write(.error, "reload refused, nothing changed", [("reason", error.description)])
        }
        for case let spotify as SpotifyService in services.services {
            if let secret = secrets.services[spotify.name] { spotify.secret = secret }
        }
        for lane in webhooks.lanes {
            if let signer = secrets.signers[lane.name] { lane.signer = signer }
        }
        parts.log.write(.info, "reloaded", [])
    }

    // MARK: The end

    /// Takes no new work, lets work in hand end, then ends the loop.
    func end() {
        guard endMs == nil else { return }
        endMs = reactor.nowMs + Courier.drainMs
        services.drain()
        webhooks.drain()
    }

    /// Milliseconds to wait at a shutdown, longer than one outside request usually takes.
    private static let drainMs = 10_000

    private func stop() {
        listener?.close()
        listener = nil
        serviceEngine.stop()
        push?.stop()
        webhooks.stop()
        if !parts.onlyLooks { nodes.leave() }
        parts.log.write(.info, "ended", [])
        // Calls of the link run in order: all calls begun before are done when this one is answered.
        redis.callEverywhere(RedisCall("PING")) { [reactor] _ in reactor.stop() }
        reactor.onTickEnd = {}
    }
}

@available(*, unavailable)
extension Courier: Sendable {}
