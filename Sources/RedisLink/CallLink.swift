internal import Core
public import Reactors
public import Transport

/// The link that calls and scripts go through: pipelined, bounded, every call with a deadline.
///
/// A call that is not answered in time fails alone, as `timeout`: its place in the pipeline is kept, and its late reply is
/// swallowed. Redis runs the calls of one connection in their order, so whatever the caller sends next still runs behind
/// it; a late `NOSCRIPT` is not repeated, since the repetition would run behind what was sent meanwhile. The connection
/// itself is given up when nothing at all has come on it for `stallMs`; everything in flight then fails, and the next
/// dial begins. Nothing is queued while Redis is away: calls fail at once, and the caller says so. Thread: the
/// reactor's.
public final class CallLink: RedisSocketOwner, RedisCalls {
    private enum Waiting {
        /// The question which scripts a new connection's server has, and what that server said of itself.
        case look(ServerFacts)
        /// The first question of a connection whether the run's `+` may be relied on.
        case seal(ServerFacts)
        /// A SCRIPT LOAD of the registry, by number.
        case load(Int)
        case call(Completion)
        case script(ScriptLanes<Completion>.Flight)
    }

    private let context: ConnectionContext
    private let target: RedisTarget
    private let board: ServerBoard
    private let registry: ScriptRegistry
    private var socket: RedisSocket?
    private var timer: ReactorTimer?
    /// When the timer fires; `Int.max` while it is not set.
    private var timerMs = Int.max
    private var pipeline: CallPipeline<Waiting>
    private var lanes: ScriptLanes<Completion>
    private let onReady: (ServerFacts) -> Void
    private let onBrokenScript: (_ name: String, _ failure: RedisFailure) -> Void
    private let onDown: (RedisFailure) -> Void
    /// What the server said of itself; `nil` while there is none.
    public private(set) var facts: ServerFacts? {
        didSet { fence = makeFence() }
    }
    /// What scripts compare positions with: the server's fence, and behind it, each after a `/`, the older ones that it is
    /// proven to have everything of; `nil` while there is no server.
    public private(set) var fence: [UInt8]?
    /// Whether the `+` of the fence may be relied on; `nil` where nobody seals.
    private var seal: RunSeal?
    /// Whether Redis keeps a note that this run has lost the `+` for good.
    public var hasLostItsSeal: Bool { facts.map { seal?.isWeak($0) ?? false } ?? false }
    /// Names the last event that the owner of the link knows of, asked when a connection is lost; `nil` for none.
    public var witness: () -> LinkWitness? = { nil }
    /// Is told in words for the operator when positions do not outlive a restart of Redis.
    public var onDoubt: (StaticString) -> Void = { _ in }
    /// What ``admit(_:in:)`` was told last.
    private var admission: (history: [UInt8], older: [[UInt8]]) = ([], [])
    /// The last failure of the connection, for logs and readiness.
    public private(set) var lastFailure: RedisFailure?
    /// Figures, readable from any thread.
    public let statistics: RedisStatistics

    /// Makes a link; `onReady` runs each time a connection is ready for calls.
    ///
    /// `onBrokenScript` is told, after each connection, the name of every script that does not compile and what Redis
    /// says of it. Such a script fails whenever it is called; all others are as good as ever. `onDown` runs when a
    /// connection was lost or a dial has failed; the next dial follows.
    public init(
        _ context: ConnectionContext, _ target: RedisTarget, _ board: ServerBoard, name: String,
        registry: ScriptRegistry, statistics: RedisStatistics = RedisStatistics(),
        onBrokenScript: @escaping (_ name: String, _ failure: RedisFailure) -> Void = { _, _ in },
        onDown: @escaping (RedisFailure) -> Void = { _ in },
        onReady: @escaping (ServerFacts) -> Void
    ) throws(Errno) {
        self.context = context
        self.target = target
        self.board = board
        self.registry = registry
        self.statistics = statistics
        self.onReady = onReady
        self.onBrokenScript = onBrokenScript
        self.onDown = onDown
        pipeline = CallPipeline(inFlightMax: target.inFlightMax)
        lanes = ScriptLanes(registry: registry, heldMax: target.inFlightMax)
        seal = RunSeal(target, registry)
        timer = try ReactorTimer(context.reactor) { [unowned self] in checkDeadlines() }
        socket = RedisSocket(context, target, board, name: name, owner: self)
        try socket?.start()
    }

    /// Ends the link; everything in flight fails.
    public func stop() {
        socket?.stop()
        timer?.invalidate()
        timer = nil
        failAll(RedisFailure(.disconnected))
    }

    /// Whether calls can be made.
    public var isReady: Bool { facts != nil }

    /// False: one server has all keys.
    public var isSharded: Bool { false }

    /// The one server's run id.
    public var writer: [UInt8]? { facts?.runID }

    /// Whether every write is on disk before it is answered.
    public var syncsEveryWrite: Bool { facts?.syncsEveryWrite ?? false }

    /// The server's fence, whatever the key.
    public func fence(of key: @autoclosure () -> [UInt8]) -> [UInt8]? { fence }

    /// Gives the connection up and dials again: it leads to the wrong server or is mute.
    public func reconnect(_ failure: RedisFailure) {
        socket?.fail(failure)
    }

    /// Looks again whether every write is synced, which `CONFIG SET` may have changed since the link was made, and which
    /// history is written there, which a replica may have changed.
    ///
    /// Called with each delivery probe, and after an answer that raises doubt, so that what is written after such a change
    /// stands under it soon. A server that has become a replica is left. `completion` is told why nothing was learnt; `nil`
    /// when it is a master still, and what was learnt of it is in ``facts``.
    public func recheck(_ completion: @escaping (RedisFailure?) -> Void = { _ in }) {
        call(ServerFacts.persistenceQuestion) { [weak self] result in
            guard case .success(let value) = result, let config = ServerFacts.config(value) else { return }
            self?.configTold(config)
        }
        askSeal()
        call(RedisCall("INFO", Array("replication".utf8))) { [weak self] result in
            switch result.map({ $0.bytes.flatMap { ReplicationFacts(info: $0) } }) {
            case .success(let now?): completion(self?.took(now))
            case .success(nil): completion(RedisFailure(.protocolViolation, detail: "INFO was not understood"))
            case .failure(let failure): completion(failure)
            }
        }
    }

    /// The same, for whoever waits for nothing.
    public func recheckHistory() { if isReady { recheck() } }

    private func took(_ now: ReplicationFacts) -> RedisFailure? {
        guard let before = facts?.replication else { return RedisFailure(.disconnected) }
        guard now.isMaster else {
            let failure = RedisFailure(.readOnly, detail: "the server has become a replica")
            reconnect(failure)
            return failure
        }
        facts?.apply(now)
        if now.id != before.id { board.hint(.suspicion) }
        if now.connectedReplicas == 0 && before.connectedReplicas > 0 { board.hint(.lonely) }
        return nil
    }

    /// Lets positions of older histories go on at this server, as long as it writes the history given.
    public func admit(_ older: [[UInt8]], in history: [UInt8]) {
        admission = (history, older)
        fence = makeFence()
    }

    private func makeFence() -> [UInt8]? {
        guard let facts else { return nil }
        var older = admission.history == facts.history ? admission.older : []
        if let master = socket?.master, master.history == facts.history { older = master.admitted }
        return Array(([seal?.fence(facts) ?? facts.fence] + older).joined(separator: [UInt8(ascii: "/")]))
    }

    // MARK: Calls

    /// Makes one call.
    public func call(_ call: RedisCall, _ completion: @escaping Completion) {
        self.call(call, deadlineMs: context.reactor.nowMs + target.callMs, completion)
    }

    /// Makes one call with a deadline of its own, monotonic milliseconds.
    func call(_ call: RedisCall, deadlineMs: Int, _ completion: @escaping Completion) {
        guard isReady else { return completion(.failure(RedisFailure(.disconnected))) }
        if let failure = send(call, .call(completion), deadlineMs: deadlineMs) {
            completion(.failure(failure))
        }
    }

    /// Calls a script.
    ///
    /// Calls of one `lane` run in the order they were made; `nil` keeps no order.
    public func run(_ call: ScriptCall, lane: UInt64?, _ completion: @escaping Completion) {
        guard isReady else { return completion(.failure(RedisFailure(.disconnected))) }
        let deadlineMs = context.reactor.nowMs + target.callMs
        switch lanes.submit(call, lane: lane, deadlineMs: deadlineMs, context: completion) {
        case .send(let flight): send(flight)
        case .held: break
        case .full: completion(.failure(RedisFailure(.inFlightFull)))
        }
    }

    /// The most calls that are in flight.
    public var callsMax: Int { target.inFlightMax }

    /// Whether a call of the lane is in flight or waits: what is called without a lane may run before it.
    public func isBusy(_ lane: UInt64) -> Bool { lanes.isBusy(lane) }

    private func send(_ flight: ScriptLanes<Completion>.Flight) {
        let call = registry.encoded(flight.call, flight.form)
        guard let failure = send(call, .script(flight), deadlineMs: flight.deadlineMs) else { return }
        flight.context(.failure(failure))
        var actions: [ScriptLanes<Completion>.Action] = []
        lanes.abandoned(flight, nowMs: context.reactor.nowMs, into: &actions)
        perform(actions)
    }

    /// Sends a call; the failure when it could not be.
    private func send(_ call: RedisCall, _ waiting: Waiting, deadlineMs: Int) -> RedisFailure? {
        var bytes: [UInt8] = []
        guard (try? call.encode(into: &bytes, limits: target.call)) != nil else {
            return RedisFailure(.tooLarge)
        }
        let nowMs = context.reactor.nowMs
        guard pipeline.count < target.inFlightMax, socket?.send(bytes) == true,
            pipeline.add(waiting, deadlineMs: deadlineMs, nowMs: nowMs)
        else {
            statistics.rejected.add(1)
            return RedisFailure(.inFlightFull)
        }
        statistics.sent.add(1)
        sentUs.append(Clock.monotonicUs())
        wake(by: min(deadlineMs, nowMs + target.stallMs))
        return nil
    }

    /// Lets the timer fire at that time, or before.
    private func wake(by deadlineMs: Int) {
        guard deadlineMs < timerMs else { return }
        timerMs = deadlineMs
        timer?.set(atMs: deadlineMs)
    }

    private var sentUs = Ring<Int>()

    private func perform(_ actions: [ScriptLanes<Completion>.Action]) {
        for action in actions {
            switch action {
            case .send(let flight): send(flight)
            case .finish(let completion, let value): completion(CallLink.result(value))
            case .expire(let completion): completion(.failure(RedisFailure(.timedOut)))
            }
        }
    }

    private static func result(_ value: RESPValue) -> Result<RESPValue, RedisFailure> {
        value.failure.map { .failure($0) } ?? .success(value)
    }

    private func checkDeadlines() {
        timerMs = Int.max
        let nowMs = context.reactor.nowMs
        if let quietMs = pipeline.quietSinceMs, nowMs - quietMs >= target.stallMs {
            return reconnect(RedisFailure(.timedOut))
        }
        for waiting in pipeline.expire(nowMs: nowMs) {
            let failure = RedisFailure(.timedOut)
            statistics.count(failure)
            fail(waiting, failure)
            guard case .script(let flight) = waiting else { continue }
            var actions: [ScriptLanes<Completion>.Action] = []
            lanes.abandoned(flight, nowMs: nowMs, into: &actions)
            perform(actions)
        }
        if let quietMs = pipeline.quietSinceMs { wake(by: quietMs + target.stallMs) }
        if let next = pipeline.nextDeadlineMs { wake(by: next) }
    }

    private func fail(_ waiting: Waiting, _ failure: RedisFailure) {
        switch waiting {
        case .look, .load, .seal: break
        case .call(let completion): completion(.failure(failure))
        case .script(let flight): flight.context(.failure(failure))
        }
    }

    // MARK: RedisSocketOwner

    func socketReady(_ facts: ServerFacts) {
        guard !registry.scripts.isEmpty else { return becomeReady(facts) }
        // Its reply is looked at however late it comes; a server that never answers is left by `stallMs`.
        if let failure = send(registry.look, .look(facts), deadlineMs: Int.max) { reconnect(failure) }
    }

    /// Loads what the server lacks, ahead of whatever is called from now on.
    private func looked(_ facts: ServerFacts, _ value: RESPValue) {
        guard value.failure?.reaction != .reconnect else { return }
        // Nobody waits for these either.
        for index in registry.missing(value) { _ = send(registry.load(index), .load(index), deadlineMs: Int.max) }
        tell(seal?.look(facts))
        guard let call = seal?.question(facts, nowMs: context.reactor.nowMs) else { return becomeReady(facts) }
        let failure = send(registry.encoded(call, .digest), .seal(facts), deadlineMs: Int.max)
        if let failure { reconnect(failure) }
    }

    /// The worth of the last run is settled before the first call of others in this one.
    private func sealed(_ facts: ServerFacts, _ value: RESPValue) {
        guard value.failure?.reaction != .reconnect else { return }
        tell(seal?.took(value, facts))
        becomeReady(facts)
    }

    private func configTold(_ config: [[UInt8]: [UInt8]]) {
        let wasDurable = facts?.isDurable
        facts?.apply(config: config)
        guard let facts else { return }
        tell(seal?.look(facts))
        fence = makeFence()
        // Answers asked for beside the settings describe the settings before them.
        if facts.isDurable != wasDurable { askSeal() }
    }

    /// Asks again with each look: it keeps the proof fresh, and another process may have seen the run lose its `+`.
    private func askSeal() {
        guard let facts, let call = seal?.question(facts, nowMs: context.reactor.nowMs) else { return }
        run(call, lane: nil) { [weak self] result in
            guard let self, let now = self.facts, now.runID == facts.runID, now.isDurable == facts.isDurable,
                case .success(let value) = result
            else { return }
            tell(seal?.took(value, facts))
            fence = makeFence()
        }
    }

    private func tell(_ news: RunSeal.News?) {
        switch news {
        case .lost: onDoubt("redis no longer syncs every write; this run's positions end with its next restart")
        case .doubted: onDoubt("redis may have lost writes that it had answered; epochs begin anew")
        case nil: break
        }
    }

    private func becomeReady(_ facts: ServerFacts) {
        self.facts = facts
        statistics.connects.add(1)
        onReady(facts)
    }

    func socketReceived(_ value: RESPValue) {
        guard let receiver = pipeline.replied(nowMs: context.reactor.nowMs) else {
            return reconnect(RedisFailure(.protocolViolation, detail: "a reply without a call"))
        }
        if let sent = sentUs.popFirst() { statistics.record(latencyUs: Clock.monotonicUs() - sent) }
        if let failure = value.failure {
            statistics.count(failure)
            // A demoted or protected server answers errors for ever; another dial finds the right one.
            if failure.reaction == .reconnect { reconnect(failure) }
            // A master that lacks its replicas may have been left behind.
            if failure.kind == .noReplicas { board.hint(.lonely) }
        }
        guard case .waiting(let waiting) = receiver else { return statistics.late.add(1) }
        switch waiting {
        case .look(let facts):
            looked(facts, value)
        case .seal(let facts):
            sealed(facts, value)
        case .load(let index):
            loaded(index, value)
        case .call(let completion):
            completion(CallLink.result(value))
        case .script(let flight):
            var actions: [ScriptLanes<Completion>.Action] = []
            lanes.replied(flight, value, nowMs: context.reactor.nowMs, into: &actions)
            perform(actions)
        }
    }

    private func loaded(_ index: Int, _ value: RESPValue) {
        guard let failure = value.failure else {
            guard registry.confirmsLoad(index, value) else {
                return reconnect(RedisFailure(.protocolViolation, detail: "a script has another digest"))
            }
            return
        }
        // Anything else is not about the script: a server that is not allowed to load it now may run it by EVAL.
        if failure.kind == .script { onBrokenScript(registry.scripts[index].name, failure) }
    }

    func socketDown(_ failure: RedisFailure) {
        seal?.disconnected(witness())
        facts = nil
        lastFailure = failure
        statistics.count(failure)
        failAll(failure)
        onDown(failure)
    }

    private func failAll(_ failure: RedisFailure) {
        sentUs.removeAll()
        let waiting = pipeline.drain()
        let held = lanes.disconnected()
        for entry in waiting { fail(entry, failure) }
        for completion in held { completion(.failure(RedisFailure(.disconnected))) }
    }
}

@available(*, unavailable)
extension CallLink: Sendable {}
