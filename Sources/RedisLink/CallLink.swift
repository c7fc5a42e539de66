public import Connections
internal import Core
public import Reactors

/// The link that sends calls and scripts to one server: pipelined, bounded, every call with a deadline.
///
/// A call without an answer fails alone at its deadline, as `timeout`. Its place in the pipeline is kept, and its late
/// reply is dropped. Redis runs the calls of one connection in order, so later calls still run behind it. A late
/// `NOSCRIPT` is not repeated, since the repetition would run behind calls sent in between. A connection that has
/// brought nothing for `stallMs` is given up: every call in flight fails, and the next dial begins. While Redis is away
/// nothing is queued: calls fail at once. Thread: the reactor's.
public final class CallLink: RedisSocketOwner, RedisLinks {
    private enum Waiting {
        /// The question about a new server's scripts, with its facts; these are large, so they lie behind a reference.
        indirect case look(ServerFacts)
        /// The first question of a connection about whether the run's `+` may be relied on.
        indirect case seal(ServerFacts)
        /// A SCRIPT LOAD of the registry, by number.
        case load(Int)
        case call(Completion)
        case script(ScriptLanes<CallCompletion>.Flight)
    }

    private let context: ConnectionContext
    let target: RedisTarget
    let directory: PrimaryDirectory
    private let registry: ScriptRegistry
    private var socket: RedisSocket?
    private var timer: ReactorTimer?
    /// The time at which the timer fires; `Int.max` while it is not set.
    private var timerMs = Int.max
    private var pipeline: CallPipeline<Waiting>
    private var lanes: ScriptLanes<CallCompletion>
    private let onReady: (ServerFacts) -> Void
    private let onBrokenScript: (_ name: String, _ failure: RedisFailure) -> Void
    private let onDown: (RedisFailure) -> Void
    /// The facts that the server reported; `nil` without a ready connection.
    public private(set) var facts: ServerFacts? {
        didSet {
            isReady = facts != nil
            fence = makeFence()
        }
    }
    /// Whether calls can be made: it spares each call a copy of the facts.
    public private(set) var isReady = false
    /// The text that scripts compare positions with; `nil` without a ready connection.
    ///
    /// The server's fence, and behind it, each after a `/`, older fences whose events the server has completely, as is
    /// proven.
    public private(set) var fence: [UInt8]?
    /// Whether the `+` of the fence may be relied on; `nil` when runs are not sealed.
    private var seal: RunSeal?
    /// Whether Redis has recorded that this run has lost the `+` for good.
    public var hasLostItsSeal: Bool { facts.map { seal?.isWeak($0) ?? false } ?? false }
    /// Returns the last event that the link's owner knows of, `nil` for none; called when a connection is lost.
    private var witness: () -> LinkWitness? = { nil }
    /// Receives a message for the operator when positions do not outlive a restart of Redis.
    private var onDoubt: (StaticString) -> Void = { _ in }
    /// The arguments of the last call of ``admit(_:in:)``.
    private var admission: (history: [UInt8], older: [[UInt8]]) = ([], [])
    /// The last failure of the connection, for logs and readiness.
    public private(set) var lastFailure: RedisFailure?
    /// Figures, readable from any thread.
    public let statistics: RedisStatistics

    /// Makes a link; `onReady` runs each time a connection is ready for calls.
    ///
    /// After each connection, `onBrokenScript` receives the name of every script loaded ahead that does not
    /// compile, and Redis's message. It fails on every call; all others work as before. `onDown` runs when a
    /// connection was lost or a dial has failed; the next dial follows.
    public init(
        _ context: ConnectionContext, _ target: RedisTarget, _ directory: PrimaryDirectory, name: String,
        registry: ScriptRegistry, statistics: RedisStatistics = RedisStatistics(),
        onBrokenScript: @escaping (_ name: String, _ failure: RedisFailure) -> Void = { _, _ in },
        onDown: @escaping (RedisFailure) -> Void = { _ in },
        onReady: @escaping (ServerFacts) -> Void
    ) throws(Errno) {
        self.context = context
        self.target = target
        self.directory = directory
        self.registry = registry
        self.statistics = statistics
        self.onReady = onReady
        self.onBrokenScript = onBrokenScript
        self.onDown = onDown
        pipeline = CallPipeline(inFlightMax: target.inFlightMax)
        lanes = ScriptLanes(registry: registry, heldMax: target.inFlightMax)
        seal = RunSeal(target, registry)
        timer = try ReactorTimer(context.reactor) { [unowned self] in checkDeadlines() }
        socket = RedisSocket(context, target, directory, name: name, owner: self)
        try socket?.start()
    }

    /// Ends the link; every call in flight fails.
    public func stop() {
        socket?.stop()
        timer?.invalidate()
        timer = nil
        failAll(RedisFailure(.disconnected))
    }

    /// Makes the link of a thread to the only server.
    convenience init(
        _ setup: LinkSetup, _ directory: PrimaryDirectory, _ registry: ScriptRegistry, _ observer: any LinkObserver
    ) throws(Errno) {
        try self.init(
            setup.context, setup.target, directory, name: setup.name, registry: registry,
            statistics: observer.statistics(of: nil), onBrokenScript: { observer.scriptIsBroken($0, $1) },
            onReady: { observer.connected([], $0) })
        witness = { observer.witness() }
        onDoubt = { observer.epochsAreInDoubt($0) }
    }

    /// Gives the connection up and dials again, because it leads to the wrong server or does not answer.
    public func reconnect(_ failure: RedisFailure) {
        socket?.fail(failure)
    }

    /// Asks again whether every write is synced (`CONFIG SET`), and which history is written (a replica may change it).
    ///
    /// It runs with each delivery probe and after a doubtful answer, so that later writes soon have the right fence. A
    /// link leaves a server that has become a replica. `completion` receives the failure when nothing was learnt; `nil`
    /// when the server is a master still, and ``facts`` holds the answer.
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

    private func took(_ now: ReplicationFacts) -> RedisFailure? {
        guard let before = facts?.replication else { return RedisFailure(.disconnected) }
        guard now.isMaster else {
            let failure = RedisFailure(.readOnly, detail: "the server has become a replica")
            reconnect(failure)
            return failure
        }
        facts?.apply(now)
        if now.id != before.id { directory.hint(.suspicion) }
        if now.connectedReplicas == 0 && before.connectedReplicas > 0 { directory.hint(.lonely) }
        return nil
    }

    /// Lets positions of older histories continue on this server, as long as it writes the given history.
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
        if let failure = send(call.words, .call(completion), deadlineMs: deadlineMs) {
            completion(.failure(failure))
        }
    }

    /// Calls a script.
    ///
    /// Calls of one `lane` run in the order they were made; `nil` keeps no order.
    public func run(_ call: ScriptCall, lane: UInt64?, _ completion: @escaping Completion) {
        guard isReady else { return completion(.failure(RedisFailure(.disconnected))) }
        let deadlineMs = context.reactor.nowMs + target.callMs
        switch lanes.submit(call, lane: lane, deadlineMs: deadlineMs, context: CallCompletion(completion)) {
        case .send(let flight): send(flight)
        case .held: break
        case .full: completion(.failure(RedisFailure(.inFlightFull)))
        }
    }

    /// Whether a call of the lane is in flight or waits; a call without a lane may run before it.
    public func isBusy(_ lane: UInt64) -> Bool { lanes.isBusy(lane) }

    private func send(_ flight: ScriptLanes<CallCompletion>.Flight) {
        head.removeAll()
        registry.appendHead(of: flight.call, flight.form, to: &head)
        let failure = send(after: head, flight.call.words, .script(flight), deadlineMs: flight.deadlineMs)
        guard let failure else { return }
        flight.context(.failure(failure))
        var actions: [ScriptLanes<CallCompletion>.Action] = []
        lanes.abandoned(flight, nowMs: context.reactor.nowMs, into: &actions)
        perform(actions)
    }

    /// Sends a call; returns the failure when it could not be sent.
    private func send(
        after head: CallWords = CallWords(), _ words: CallWords, _ waiting: Waiting, deadlineMs: Int
    ) -> RedisFailure? {
        var bytes: [UInt8] = []
        guard (try? RedisCall.encode(head, words, into: &bytes, limits: target.call)) != nil else {
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

    /// Sets the timer to fire at that time, or keeps an earlier one.
    private func wake(by deadlineMs: Int) {
        guard deadlineMs < timerMs else { return }
        timerMs = deadlineMs
        timer?.set(atMs: deadlineMs)
    }

    private var sentUs = Ring<Int>()
    /// Storage for the head of a script's call.
    private var head = CallWords()

    private func perform(_ actions: [ScriptLanes<CallCompletion>.Action]) {
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
        let (nowMs, failure) = (context.reactor.nowMs, RedisFailure(.timedOut))
        if let quietMs = pipeline.quietSinceMs, nowMs - quietMs >= target.stallMs { return reconnect(failure) }
        for waiting in pipeline.expire(nowMs: nowMs) {
            statistics.count(failure)
            fail(waiting, failure)
            guard case .script(let flight) = waiting else { continue }
            var actions: [ScriptLanes<CallCompletion>.Action] = []
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
        guard let look = registry.look else { return looked(facts, nil) }
        // Its reply is read however late it arrives; `stallMs` ends a connection whose server never answers.
        if let failure = send(look.words, .look(facts), deadlineMs: Int.max) { reconnect(failure) }
    }

    /// Loads the scripts that the server lacks, ahead of any further call.
    private func looked(_ facts: ServerFacts, _ value: RESPValue?) {
        guard value?.failure?.reaction != .reconnect else { return }
        for index in registry.missing(value) { _ = send(registry.load(index).words, .load(index), deadlineMs: Int.max) }
        tell(seal?.look(facts))
        guard let call = seal?.question(facts, nowMs: context.reactor.nowMs) else { return becomeReady(facts) }
        // By source: the scripts may be flushed behind their loading, and without an answer the first calls of this
        // connection would begin new epochs, in which all others would see lost writes.
        let failure = send(registry.encoded(call, .source).words, .seal(facts), deadlineMs: Int.max)
        if let failure { reconnect(failure) }
    }

    /// Settles whether positions of the last run count, before the first call of other users in this run.
    private func sealed(_ facts: ServerFacts, _ value: RESPValue) {
        guard value.failure?.reaction != .reconnect else { return }
        if let failure = value.failure, RunSeal.waits(failure, facts) { return reconnect(failure) }
        tell(seal?.took(value, facts))
        becomeReady(facts)
    }

    private func configTold(_ config: [[UInt8]: [UInt8]]) {
        let wasDurable = facts?.isDurable
        facts?.apply(config: config)
        guard let facts else { return }
        tell(seal?.look(facts))
        fence = makeFence()
        // Answers that were requested along with the settings describe the settings before this change.
        if facts.isDurable != wasDurable { askSeal() }
    }

    /// Asks again with each recheck: it keeps the proof fresh, and another process may have seen the run lose its `+`.
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

    private func tell(_ news: RunSeal.Outcome?) {
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
        if let sent = sentUs.popFirst() { statistics.latencies.record(us: Clock.monotonicUs() - sent) }
        if let failure = value.failure {
            statistics.count(failure)
            // A demoted or protected server keeps answering errors; another dial finds the right one.
            if failure.reaction == .reconnect { reconnect(failure) }
            // A master that lacks its replicas may have been replaced by another.
            if failure.kind == .noReplicas { directory.hint(.lonely) }
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
            if lanes.isEnd(of: flight, value) { return flight.context(.success(value)) }
            var actions: [ScriptLanes<CallCompletion>.Action] = []
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
        // Any other error is not about the script: a server that may not load it now may run it by EVAL.
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
        let (waiting, held) = (pipeline.drain(), lanes.disconnected())
        for entry in waiting { fail(entry, failure) }
        for completion in held { completion(.failure(RedisFailure(.disconnected))) }
    }
}

@available(*, unavailable)
extension CallLink: Sendable {}
