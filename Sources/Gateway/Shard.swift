import Commands
import Configuration
import Core
import Dialects
import Reactors
import RedisLink
import Rights
import Service
import Transport

/// One reactor thread: its listeners, connections, sessions, topics, and its command link to Redis.
///
/// The node's main flows meet here: bytes -> `HTTPPeer`, or a `ClientTransport`, its `Peer` and `Session` -> `TopicTable` or
/// `EventLog`. Thread: its own.
final class Shard {
    let node: Node
    let index: Int
    let limits: Limits
    let statistics: ShardStatistics
    let store: EventLog
    let topics: TopicTable<Session>
    let commands: CommandService
    let rightsStore: RightsStore
    /// Deliveries that couriers and workers gave up.
    let deadLetters: DeadLetters
    let presence: PresenceTracker
    let sessionRules: SessionRules
    private(set) lazy var router = Router(shard: self)
    private(set) lazy var polling = PollingServer(shard: self, link: link)
    private lazy var rightsEnforcer = RightsEnforcer(shard: self, store: rightsStore)
    /// On the first shard only.
    private let rightsWatch: RevocationPoller?
    /// On the first shard only.
    private let relaySecret: RelaySecret?
    /// On the first shard only.
    private let loadWatch: LoadWatch?
    /// On the first shard only.
    private let outboxInquiry: OutboxInquiry?
    /// On the first shard only.
    private let serverWatch: ServerWatch?
    /// On the first shard only.
    private let workerInquiry: WorkerInquiry?
    /// On the first shard only.
    private let callsInquiry: CallsInquiry?
    /// On the first shard only.
    private let nodeWatch: NodeWatch?

    /// HTTP requests that wait for Redis; a drain lets them be answered.
    var requestsInFlight = 0

    let reactor: Reactor
    private let mailbox: Mailbox<ShardMessage>
    private let context: ConnectionContext
    let link: any RedisCalls
    /// `nil` unless an event must be on replicas before it is acknowledged.
    let replicas: ReplicaWaits?
    private let desk: ReadScheduler
    private var listeners: [Listener] = []
    private var operationsListeners: [Listener] = []
    private var secureListeners: [Listener] = []
    private var timer: ReactorTimer?
    private var received: [ShardMessage] = []
    private var rest = FanoutPacing()
    /// Whether the last slice of a fan-out round was handed in the tick before.
    private var isRoundServed = false
    private var transports: [ObjectIdentifier: any ClientTransport] = [:]
    /// For clients that agreed on `permessage-deflate`.
    let deflation: Deflation
    private var encodings: EncodingTable
    private var httpPeers: [ObjectIdentifier: HTTPPeer] = [:]
    private var questions = TopicQuestions()
    private var drain: Drain?
    private var sweepAtMs = 0
    let reporter: LinkReporter

    private struct Drain {
        var plan: DrainPlan<ObjectIdentifier>
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
        statistics = ShardStatistics(transport: context.statistics, loop: reactor.statistics)
        deflation = Deflation(
            bytesMin: node.deflateBytesMin, bytesMax: node.limits.deflateBytesMax, statistics: statistics)
        encodings = EncodingTable(written: statistics.encodings, deflation: deflation)
        let reporter = Shard.reporter(node, index)
        self.reporter = reporter
        link = try Shard.link(node, context, index, reporter)
        replicas = try Shard.waits(node, context, index, reporter)
        let desk = try ReadScheduler(reactor, limits: node.limits, budgets: node.budgets, statistics: statistics)
        self.desk = desk
        store = EventLog(
            reactor, link: link, scripts: node.scripts, keys: node.keys, limits: node.limits, access: node.access,
            desk: desk, replicas: replicas, wallMs: { [clock = node.clock] in clock.wallMs })
        rightsStore = RightsStore(link: link, scripts: node.scripts, keys: node.keys, limits: node.limits)
        deadLetters = DeadLetters(link: link, scripts: node.scripts, keys: node.keys, limits: node.limits)
        let origin = PresenceStore.Origin(node: Array(node.name.utf8), shard: index)
        let presenceStore = PresenceStore(link, node.scripts, node.keys, node.limits, desk, origin)
        presence = try PresenceTracker(reactor, presenceStore, desk, node.limits, statistics, origin)
        let watch = index == 0 ? RevocationPoller(node: node, store: rightsStore, nowMs: { reactor.nowMs }) : nil
        rightsWatch = watch
        relaySecret = index == 0 ? RelaySecret(node: node, link: link) : nil
        loadWatch = index == 0 ? Shard.loadWatch(node) : nil
        outboxInquiry = index == 0 ? Shard.outboxInquiry(node, link) : nil
        serverWatch = index == 0 ? Shard.serverWatch(node) : nil
        workerInquiry = index == 0 ? Shard.workerInquiry(node, link) : nil
        callsInquiry = index == 0 ? Shard.callsInquiry(node, link) : nil
        let nodeWatch = index == 0 ? Shard.nodeWatch(node, link) : nil
        self.nodeWatch = nodeWatch
        // Revocations are read once the time is known, and until they are read no token counts.
        nodeWatch?.onSettled = { watch?.linkIsNew() }
        sessionRules = SessionRules(limits: node.limits, access: node.access) { cost, caller in
            Shard.charge(cost, caller, node, nowMs: reactor.nowMs)
        }
        commands = CommandService(
            node: node, link: link, replicas: replicas, shard: index, desk: desk, statistics: statistics,
            top: { [store] in store.top($0) }, nowMs: { reactor.nowMs })
        topics = TopicTable(
            limits: node.limits, repairs: node.testFault != .noRepair,
            store: store, channels: ShardInterest(bus: node.bus, shard: index), statistics: statistics,
            nowMs: { reactor.nowMs })
        sessionRules.payJoin = { [store, unowned topics] topic, caller, address in
            store.payJoin(topic, payer: node.payer(caller, at: address), isCoalesced: topics.isCoalesced(topic))
        }
        sessionRules.addressRoom = { node.budgets.room(of: node.payer(.anonymous, at: $0)) }
        sessionRules.noteHeld = { node.budgets.hold($0, node.payer(.anonymous, at: $1)) }
        store.onScriptFault = { [unowned self] in scriptFailed($0, $1) }
        reporter.lastEvent = { [unowned store] in store.witness }
        store.lastDelivered = { [unowned topics] in topics.position($0) }
        reporter.onConnected = { [unowned topics, relaySecret] in
            topics.relinked()
            nodeWatch?.linkIsNew(nowMs: reactor.nowMs)
            relaySecret?.linkIsNew()
        }
        node.shardStatistics.add(statistics)
        timer = try ReactorTimer(reactor) { [unowned self] in timerFired() }
        timer?.set(atMs: reactor.nowMs)
        reactor.onMailbox = { [unowned self] in takeMessages() }
        reactor.onAlarm = { [unowned self] in serveSlice() }
    }

    /// Starts accepting on a listening socket.
    func listen(_ plan: ListenerPlan) throws(Errno) {
        guard let descriptor = plan.descriptors[index] else { return }
        let isSecure = plan.tls != nil
        let style = Listener.Style(
            tls: plan.tls, expectsProxyHeader: plan.expectsProxyHeader, acceptsPerTick: limits.acceptsPerTick,
            acceptPauseMs: limits.acceptPauseMs, descriptorReserve: plan.role.isOperations ? 4 : DescriptorRoom.reserve)
        let listener = try Listener(
            context: context, listening: FileDescriptor(owning: descriptor), style: style,
            admission: plan.admission
        ) { [unowned self] in HTTPPeer(shard: self, role: plan.role, isSecure: isSecure) }
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

    /// Takes a connection from another shard; `nil` when there is no room for it.
    func arrive(_ moving: MovingConnection, handler: any ConnectionHandler) -> Connection? {
        Connection.arrive(moving, in: context, handler: handler)
    }

    // MARK: Time

    /// Monotonic milliseconds of this tick.
    var nowMs: Int { reactor.nowMs }
    /// When this shard last resumed after a stop of the process, monotonic milliseconds.
    var stalledMs: Int { reactor.stalledMs }
    /// Milliseconds since 1970 by the clock of all nodes; for tokens only.
    var wallMs: Int { node.clock.wallMs }
    /// Seconds since 1970; for tokens only.
    var wallSeconds: Int { wallMs / 1_000 }

    private func timerFired() {
        if nowMs >= sweepAtMs { sweep() }
        timer?.set(atMs: nowMs + (drain == nil ? limits.shardSweepMs : limits.drainStepMs))
        continueDrain()
    }

    private func sweep() {
        sweepAtMs = nowMs + limits.shardSweepMs
        reporter.look(at: link)
        if index == 0 {
            node.lookAtMemory()
            node.clientLog.sweep(nowMs: nowMs)
        }
        topics.sweep()
        presence.sweep()
        store.sweep()
        desk.sweep()
        commands.sweep()
        polling.sweep()
        nodeWatch?.work(nowMs: nowMs)
        rightsWatch?.sweep()
        relaySecret?.sweep()
        loadWatch?.sweep(masters, nowMs: nowMs)
        outboxInquiry?.sweep(nowMs: nowMs)
        serverWatch?.sweep(masters, nowMs: nowMs)
        workerInquiry?.sweep(nowMs: nowMs)
        callsInquiry?.sweep(nowMs: nowMs)
        rightsEnforcer.sweep()
        questions.expire(nowMs: nowMs, afterMs: limits.reportWaitMs)
    }

    // MARK: Messages

    private func takeMessages() {
        mailbox.drain(into: &received)
        polling.beginTurn()
        for message in received { take(message) }
        received.removeAll(keepingCapacity: true)
        topics.endTurn()
        polling.endTurn()
        if topics.hasRounds, reactor.alarmMs == Int.max { reactor.alarmMs = nowMs }
    }

    /// Serves the members of a large topic, one slice a tick, with a pause after each round.
    private func serveSlice() {
        let nowUs = Clock.monotonicUs()
        if isRoundServed { rest.begins(nowUs: nowUs) }
        isRoundServed = false
        guard topics.hasRounds else { return }
        guard rest.isOver(nowUs: nowUs) else { return reactor.alarmMs = rest.endMs }
        rest.workBegins(nowUs: nowUs)
        polling.beginTurn()
        isRoundServed = topics.serveSlice()
        polling.endTurn()
        // The events handed to the slice are written in this tick.
        reactor.alarmMs = nowMs
    }

    private func take(_ message: ShardMessage) {
        switch message {
        case .bus(let event): take(event)
        case .report(let topic, let question, let asker):
            var report = topics.report(topic)
            report.published = store.published(topic)
            _ = node.shards[asker].send(.reported(question: question, report))
        case .reported(let question, let report): questions.answered(question, report)
        case .poll(let request): polling.take(request)
        case .polled(let number, let answer): polling.answered(number, answer)
        case .pollAbandoned(let session): polling.abandoned(session)
        case .upgrade(let upgrade): polling.arrive(upgrade)
        case .pollingEnded(let shard): polling.ended(shard)
        case .relaySecret(let secret): polling.relay.use(secret)
        case .rights(let change): rightsEnforcer.take(change)
        case .listen(let plan): open(plan)
        case .replaceTLS(let tls): for listener in secureListeners { listener.replaceTLS(tls) }
        case .drain(let overMs): beginDrain(overMs)
        case .stop: stop()
        }
    }

    /// Asks all shards of this node for their counts of a topic.
    func askAll(_ topic: Topic, _ completion: @escaping (TopicReport) -> Void) {
        let question = questions.ask(of: node.shards.count, nowMs: nowMs, completion)
        for mailbox in node.shards where !mailbox.send(.report(topic, question: question, asker: index)) {
            questions.answered(question, TopicReport())
        }
    }

    /// Counts an event whose receiver no longer exists.
    func undeliverable(_ delivery: Delivery) {
        delivery.counts.countUndeliverable()
        context.statistics.itemsDropped.add(1)
    }

    // MARK: Transports and drain

    /// The sessions of this shard.
    var sessions: [Session] { transports.values.flatMap { $0.peer?.sessions ?? [] } }

    /// The encoding for an encoder and a transport's framing.
    func encoding(_ encoder: any EventEncoder, _ framing: Framing) -> Encoding {
        encodings.encoding(encoder, framing)
    }

    /// A transport was opened.
    func joined(_ transport: any ClientTransport) {
        transports[ObjectIdentifier(transport)] = transport
        drain?.plan.join(ObjectIdentifier(transport), nowMs: nowMs)
        statistics.sessions.set(transports.count)
    }

    /// A transport has ended.
    func left(_ transport: any ClientTransport) {
        transports[ObjectIdentifier(transport)] = nil
        statistics.sessions.set(transports.count)
    }

    /// An HTTP connection was opened.
    func opened(_ peer: HTTPPeer) {
        httpPeers[ObjectIdentifier(peer)] = peer
    }

    /// An HTTP connection has ended, or became a WebSocket.
    func ended(_ peer: HTTPPeer) {
        httpPeers[ObjectIdentifier(peer)] = nil
    }

    private func beginDrain(_ overMs: Int) {
        guard drain == nil else { return }
        presence.beginEnding()
        for listener in listeners { listener.dropNewConnections() }
        var random = SystemRandomNumberGenerator()
        let plan = DrainPlan(Array(transports.keys), nowMs: nowMs, overMs: overMs, using: &random)
        drain = Drain(plan: plan, startMs: nowMs, overMs: overMs)
        polling.relay.beginDrain()
        timer?.set(atMs: nowMs)
    }

    private func continueDrain() {
        guard let step = drain?.plan.step(nowMs: nowMs), let drain else { return }
        for id in step.told {
            transports[id]?.peer?.tell(.draining(reconnectAfterMs: Int.random(in: 0...drain.plan.hintMsMax)))
        }
        for id in step.closed { transports[id]?.close(.restart) }
        let elapsedMs = nowMs - drain.startMs
        guard elapsedMs >= limits.drainAcceptMs else { return }
        for listener in listeners { listener.close() }
        listeners = []
        // Every answer since the announcement ended its connection, so these have long had no request.
        if elapsedMs >= drain.overMs / 4 {
            for peer in httpPeers.values where !peer.isOperations { peer.closeIfIdle() }
        }
        if drain.plan.isOver && hasNoClients(isLate: elapsedMs >= drain.overMs + limits.closeMs) {
            link.stop()
            replicas?.stop()
            reporter.ended()
            polling.end()
            stop()
        }
    }

    /// Ends the loop with this tick, which still sends all queued bytes.
    private func stop() {
        nodeWatch?.leave()
        reactor.stop()
    }

    /// Whether all connections but the links and those of operations have ended; when late, only those that matter.
    private func hasNoClients(isLate: Bool) -> Bool {
        let links = link.servers.count + (replicas?.linkCount ?? 0)
        let others = links + httpPeers.values.count(where: \.isOperations)
        return requestsInFlight == 0 && transports.isEmpty
            && (isLate || presence.isEmpty && context.statistics.open.value <= others)
    }
}
