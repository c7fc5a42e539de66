import Bridge
import Bus
import Calls
import Commands
import Configuration
import Connections
import Core
import Dialects
import EventLogs
import Fleet
import HTTPSurface
import Operations
import Presence
import Reactors
import RedisLink
import Rights
import Service
import Sessions
import Synchronization
import Topics
import Traces
import Transports

/// One reactor thread: its listeners, connections, sessions, topics, and its links to Redis.
///
/// It owns the rooms, passes them the messages of other threads, and calls them in time. Bytes of clients do not pass
/// here: a connection calls its `HTTPPeer` or its `ClientTransport`. Thread: its own.
final class Shard {
    let node: Node
    let index: Int
    let clock: ShardClock
    let limits: Limits
    let statistics: ShardStatistics
    let store: EventLog
    let topics: TopicTable<Session>
    let commands: CommandService
    let presence: PresenceTracker
    let transports: TransportContext
    let polling: PollingServer
    let fleet: FleetService
    private let http: HTTPServer
    private let rightsEnforcer: RightsEnforcer
    /// On the first shard only.
    private let watches: NodeWatches?
    /// The subscription.
    let bus: ShardBus
    /// On the first shard only.
    private var nodeBus: NodeBus?
    /// On the first shard of a node with a bridge only.
    private(set) var bridge: EmitterBridge?

    let reactor: Reactor
    private let mailbox: Mailbox<ShardMessage>
    private let context: ConnectionContext
    let link: any RedisLinks
    /// `nil` unless an event must be on replicas before it is acknowledged.
    let replicas: ReplicaWaits?
    private let scheduler: ReadScheduler
    private var listeners: [Listener] = []
    private var operationsListeners: [Listener] = []
    private var secureListeners: [Listener] = []
    private var timer: ReactorTimer?
    private var received: [ShardMessage] = []
    private var rest = FanoutPacing()
    /// The share of a round whose last slice was handed in the tick before.
    private var servedShare: FanoutShare?
    private let audit: TopicAudit
    private var drain: Drain?
    private var sweepAtMs = 0
    let reporter: LinkReporter

    private struct Drain {
        let startMs: Int
        let overMs: Int
    }

    /// Builds the shard on its thread.
    init(node: Node, index: Int, reactor: Reactor, mailbox: Mailbox<ShardMessage>) throws(Errno) {
        self.node = node
        self.index = index
        self.reactor = reactor
        self.mailbox = mailbox
        limits = node.limits
        context = ConnectionContext(
            reactor: reactor, limits: ConnectionLimits(node.limits, reactors: node.shards.count))
        statistics = Shard.statistics(node, context, reactor)
        let clock = ShardClock(reactor, node.clock)
        self.clock = clock
        let deflation = Deflation(
            bytesMin: node.deflateBytesMin, bytesMax: node.limits.deflateBytesMax, statistics: statistics)
        let bus = ShardBus(node.busContext, shard: index, statistics: statistics)
        self.bus = bus
        let reporter = Shard.reporter(node, index, bus)
        self.reporter = reporter
        link = try Shard.link(node, context, index, reporter)
        replicas = try Shard.waits(node, context, index, reporter)
        let scheduler = try ReadScheduler(reactor, limits: node.limits, budgets: node.budgets, statistics: statistics)
        self.scheduler = scheduler
        store = EventLog(
            reactor, link: link, scripts: node.scripts, keys: node.keys, limits: node.limits, access: node.access,
            scheduler: scheduler, statistics: statistics, replicas: replicas,
            wallMs: { [clock = node.clock] in clock.wallMs })
        presence = try Shard.presence(node, index, reactor, link, scheduler, statistics)
        commands = Shard.commands(node, index, link, replicas, scheduler, statistics, clock, store)
        let trace = SessionTrace(bytesMax: node.limits.traceBytesMax / node.shards.count, nowMs: { reactor.nowMs })
        topics = TopicTable(
            limits: node.limits, store: store, channels: BusInterest(bus: bus), statistics: statistics, trace: trace,
            nowMs: { reactor.nowMs })
        let services = Shard.services(
            node, index, clock, statistics, deflation, store, topics, presence, commands, trace)
        let open = OpenTransports(count: statistics.sessions)
        let rights = Shard.rights(node, clock, link, store, open)
        rightsEnforcer = RightsEnforcer(rights)
        let watches = index == 0 ? NodeWatches(node, link, rights: rights) : nil
        self.watches = watches
        transports = Shard.transports(node, clock, statistics, deflation, services, open)
        polling = Shard.polling(node, index, transports, link, context)
        audit = Shard.audit(node, index)
        fleet = try Shard.fleet(node, index, transports, services.users, topics, link, reactor)
        http = Shard.http(
            node,
            HTTPParts(
                commands: commands, topics: store, presence: presence, members: rights.store, audit: audit,
                transports: transports, polling: polling, fleet: fleet), link, reactor)
        store.onScriptFault = Shard.scriptFaults(node, statistics)
        reporter.lastEvent = { [unowned store] in store.witness }
        store.lastDelivered = { [unowned topics] in topics.position($0) }
        reporter.onConnected = { [unowned topics] in
            topics.relinked()
            watches?.linkIsNew(nowMs: reactor.nowMs)
        }
        node.figures.shards.add(statistics)
        timer = try ReactorTimer(reactor) { [unowned self] in timerFired() }
        timer?.set(atMs: reactor.nowMs)
        nodeBus = try Shard.begin(bus, node, reactor, self)
        bridge = try Shard.bridge(node, reactor, self)
        reactor.onMailbox = { [unowned self] in takeMessages() }
        reactor.onTurnEnd = { [unowned self] in endTurn() }
        reactor.onTickEnd = { [unowned self] in
            topics.endTick()
            bus.endTick()
            nodeBus?.endTick()
        }
        reactor.onAlarm = { [unowned self] in serveSlice() }
    }

    /// Starts accepting on a listening socket.
    func listen(_ plan: ListenerPlan) throws(Errno) {
        guard let descriptor = plan.descriptors[index] else { return }
        let isSecure = plan.tls != nil
        let reserve = plan.role.isOperations ? DescriptorReserve.operators : DescriptorReserve.clients
        let style = Listener.Style(
            tls: plan.tls, expectsProxyHeader: plan.expectsProxyHeader, acceptsPerTick: limits.acceptsPerTick,
            acceptPauseMs: limits.acceptPauseMs, descriptorReserve: reserve)
        let listener = try Listener(
            context: context, listening: FileDescriptor(owning: descriptor), style: style, admission: plan.admission
        ) { [unowned http] in HTTPPeer(http, role: plan.role, isSecure: isSecure) }
        if plan.role.isOperations { return operationsListeners.append(listener) }
        listeners.append(listener)
        if isSecure { secureListeners.append(listener) }
    }

    private func open(_ plan: ListenerPlan) {
        do {
            try listen(plan)
        } catch {
            node.log.write(.error, "a shard cannot listen", [("shard", "\(index)"), ("reason", error.description)])
            node.health.failed(.shard(index), .shardFailed)
        }
    }

    // MARK: Time

    /// Monotonic milliseconds of this tick.
    var nowMs: Int { reactor.nowMs }
    /// Milliseconds since 1970 by the clock of all nodes; for tokens only.
    var wallMs: Int { clock.wallMs }
    private func timerFired() {
        if nowMs >= sweepAtMs { sweep() }
        timer?.set(atMs: nowMs + (drain == nil ? limits.shardSweepMs : limits.drainStepMs))
        continueDrain()
    }

    private func sweep() {
        sweepAtMs = nowMs + limits.shardSweepMs
        reporter.look(at: link)
        bus.sweep()
        if index == 0 {
            node.health.check(node.memory, node.admission)
            node.clientLog.sweep(nowMs: nowMs)
            node.crowds.sweep(nowMs: nowMs)
        }
        topics.sweep()
        topics.trace.sweep()
        presence.sweep()
        store.sweep()
        scheduler.sweep()
        commands.sweep()
        polling.sweep()
        watches?.sweep(masters, nowMs: nowMs)
        bridge?.sweep(nowMs: nowMs)
        rightsEnforcer.sweep()
        audit.sweep(nowMs: nowMs)
    }

    // MARK: Messages

    private func takeMessages() {
        mailbox.drain(into: &received)
        polling.beginBatch()
        for message in received { take(message) }
        received.removeAll(keepingCapacity: true)
        polling.endBatch()
    }

    /// Hands over the events of this tick, and sends its subscriptions and publishes.
    private func endTurn() {
        if topics.hasEvents {
            polling.beginBatch()
            topics.endBatch()
            polling.endBatch()
            if topics.hasRounds, reactor.alarmMs == Int.max { serveSlice() }
        }
        bus.endTurn()
        store.sendPublishes()
    }

    /// Serves the members of a large topic, one slice a tick, with a pause after each round.
    private func serveSlice() {
        let nowUs = Clock.monotonicUs()
        if let servedShare { rest.begins(nowUs: nowUs, servedShare) }
        servedShare = nil
        guard topics.hasRounds else { return }
        guard rest.isOver(nowUs: nowUs) else { return reactor.alarmMs = rest.endMs }
        rest.workBegins(nowUs: nowUs)
        polling.beginBatch()
        let served = topics.served
        if topics.serveSlice(), let served {
            servedShare = node.crowds.share(of: served.topic, shard: index, members: served.members, nowMs: nowMs)
        }
        polling.endBatch()
        // The events handed to the slice are written in this tick.
        reactor.alarmMs = nowMs
    }

    private func take(_ message: ShardMessage) {
        switch message {
        case .order(let order): take(order)
        case .report(let report): nodeBus?.take(report)
        case .audit(let message):
            audit.take(message) { topic in
                var report = topics.report(topic)
                report.published = store.published(topic)
                return report
            }
        case .fleet(let order): fleet.take(order)
        case .polling(let message): polling.take(message)
        case .rights(let change): rightsEnforcer.take(change)
        case .listen(let plan): open(plan)
        case .replaceTLS(let tls): for listener in secureListeners { listener.replaceTLS(tls) }
        case .drain(let overMs): beginDrain(overMs)
        case .stop: stop()
        }
    }

    // MARK: Drain

    private func beginDrain(_ overMs: Int) {
        guard drain == nil else { return }
        presence.beginEnding()
        bridge?.leave()
        for listener in listeners { listener.dropNewConnections() }
        transports.open.beginDrain(nowMs: nowMs, overMs: overMs)
        drain = Drain(startMs: nowMs, overMs: overMs)
        polling.relay.beginDrain()
        timer?.set(atMs: nowMs)
    }

    private func continueDrain() {
        guard let drain else { return }
        let isOver = transports.open.continueDrain(nowMs: nowMs)
        let elapsedMs = nowMs - drain.startMs
        guard elapsedMs >= limits.drainAcceptMs else { return }
        for listener in listeners { listener.close() }
        listeners = []
        // Every answer since the announcement ended its connection, so these have long had no request.
        if elapsedMs >= drain.overMs / 4 { http.closeIdle() }
        // The first shard ends last, since it leads the links of the others and receives their messages.
        let isNeeded = index == 0 && node.shardsRunning.load(ordering: .acquiring) > 1
        if isOver && !isNeeded && hasNoClients(isLate: elapsedMs >= drain.overMs + limits.closeMs) {
            link.stop()
            bus.stop()
            bridge?.stop()
            replicas?.stop()
            reporter.ended()
            polling.end()
            stop()
        }
    }

    /// Ends the loop with this tick, which still sends all queued bytes.
    private func stop() {
        watches?.leave()
        reactor.stop()
    }

    /// Whether all connections but the links and those of operations have ended; when late, only those that matter.
    private func hasNoClients(isLate: Bool) -> Bool {
        let links = link.servers.count + (replicas?.linkCount ?? 0)
        let others = links + http.operationsCount
        return http.requestsInFlight == 0 && transports.open.isEmpty
            && (isLate || presence.isEmpty && context.statistics.open.value <= others)
    }
}
