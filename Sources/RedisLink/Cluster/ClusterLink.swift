internal import Connections
import Core
internal import Reactors

/// The links to all masters of a cluster: each call goes to the master of its slot, and then to where replies redirect
/// it.
///
/// ``ClusterAttempts`` sends again a call that a node did not run; until its deadline the call waits for the master of
/// its slot. At most one call of a lane is in flight, whichever node it is sent to, so redirections do not change their
/// order.
///
/// Thread: the reactor's.
final class ClusterLink: RedisLinks {
    /// The content of a call.
    enum Work {
        case call(RedisCall, Completion)
        case script(ScriptLanes<Completion>.Flight)
    }

    /// A call that is not finished.
    struct Attempt {
        let work: Work
        /// The slot of its first key; `nil` when it has no key, and any master may run it.
        let slot: Int?
        var tries: ClusterAttempts
        /// The failure that it is finished with if it gives up now.
        var failure = RedisFailure(.disconnected)
    }

    private let context: ConnectionContext
    private let target: RedisTarget
    private let registry: ScriptRegistry
    private let observer: any LinkObserver
    let masters: MasterLinks
    private(set) var map = SlotMap.empty
    private var lanes: ScriptLanes<Completion>
    private var waiting: [(dueMs: Int, attempt: Attempt)] = []
    private var timer: ReactorTimer?
    /// The time at which the timer fires; `Int.max` while it is not set.
    private var timerMs = Int.max
    private var isStopped = false
    /// The run id of the master that ran the call whose completion runs now.
    private(set) var writer: [UInt8]?

    /// Makes the links of a thread; ``follow(_:)`` gives them the map.
    init(
        _ context: ConnectionContext, _ target: RedisTarget, name: String, registry: ScriptRegistry,
        observer: any LinkObserver
    ) throws(Errno) {
        self.context = context
        self.target = target
        self.registry = registry
        self.observer = observer
        masters = MasterLinks(context, target, name: name, registry: registry, observer: observer)
        lanes = ScriptLanes(registry: registry, heldMax: target.inFlightMax)
        timer = try ReactorTimer(context.reactor) { [unowned self] in timerFired() }
        masters.onUsable = { [unowned self] in tryAgain() }
    }

    /// Ends every link.
    func stop() {
        isStopped = true
        timer?.invalidate()
        timer = nil
        let waited = waiting
        waiting.removeAll()
        for (_, attempt) in waited { finish(attempt, .failure(RedisFailure(.disconnected))) }
        masters.stop()
        for completion in lanes.disconnected() { completion(.failure(RedisFailure(.disconnected))) }
    }

    // MARK: The masters

    /// The last failure of any link, for logs.
    var lastFailure: RedisFailure? { masters.lastFailure }

    /// Takes a map: new masters get a link, and masters without slots lose theirs after a while.
    func follow(_ placement: Placement) {
        guard case .slots(let map) = placement, !isStopped else { return }
        self.map = map
        masters.use(map)
        wake(atMs: context.reactor.nowMs)
    }

    /// The node ids of the masters with a link.
    var servers: [ServerID] { masters.ids }

    /// The link to a node, whether it is ready or not; `nil` when there is none.
    func link(to server: ServerID) -> CallLink? { masters.link(to: server) }

    /// The facts that the server of a node reported; `nil` until it is verified.
    func facts(of server: ServerID) -> ServerFacts? { masters.facts(server) }

    /// Address of a master with slots; `nil` for any other node.
    func place(of server: ServerID) -> String? { map.master(server)?.address.description }

    /// Asks the server of a node again for its history.
    func recheck(_ server: ServerID) { masters.recheck(server) }

    /// Gives the connection to a node up, and asks for the map: another may have its slots.
    func reconnect(_ server: ServerID, _ failure: RedisFailure) {
        observer.hint(.suspicion)
        masters.link(to: server)?.reconnect(failure)
    }

    // MARK: RedisCalls

    /// Whether at least one master accepts calls.
    var isReady: Bool { masters.hasUsable }

    /// The most calls in flight on the link to one master.
    var callsMax: Int { target.inFlightMax }

    /// `nil`: each master has facts of its own.
    var facts: ServerFacts? { nil }

    /// `true`.
    var isSharded: Bool { true }

    /// `false`: masters may have different settings, and a failover loses writes whatever disks hold.
    var syncsEveryWrite: Bool { false }

    /// The fence of the key's master; while it is away, a placeholder for the fence of the server that runs the call.
    func fence(of key: @autoclosure () -> [UInt8]) -> [UInt8]? {
        guard isReady else { return nil }
        return map[HashSlot.of(key())].flatMap { masters.link(to: $0.id)?.fence } ?? [UInt8(ascii: "-")]
    }

    /// Whether a call of the lane is in flight or waits.
    func isBusy(_ lane: UInt64) -> Bool { lanes.isBusy(lane) }

    /// Sends one call to the master of its key's slot.
    ///
    /// `SCAN` asks all masters one after the other; its cursor holds the progress.
    func call(_ call: RedisCall, _ completion: @escaping Completion) {
        if call.argument(0)?.elementsEqual("SCAN".utf8) == true { return scan(call, completion) }
        let deadlineMs = context.reactor.nowMs + target.callMs
        let slot = call.key.map { HashSlot.of($0) }
        dispatch(Attempt(work: .call(call, completion), slot: slot, tries: ClusterAttempts(deadlineMs: deadlineMs)))
    }

    /// Calls a script at the master of its first key's slot.
    func run(_ call: ScriptCall, lane: UInt64?, _ completion: @escaping Completion) {
        let deadlineMs = context.reactor.nowMs + target.callMs
        switch lanes.submit(call, lane: lane, deadlineMs: deadlineMs, context: completion) {
        case .send(let flight): begin(flight)
        case .held: break
        case .full: completion(.failure(RedisFailure(.inFlightFull)))
        }
    }

    private func begin(_ flight: ScriptLanes<Completion>.Flight) {
        dispatch(
            Attempt(
                work: .script(flight), slot: flight.call.firstKey.map { HashSlot.of($0) },
                tries: ClusterAttempts(deadlineMs: flight.deadlineMs)))
    }

    // MARK: Attempts

    /// Sends a call to the master of its slot, or lets it wait until there is one.
    private func dispatch(_ attempt: Attempt) {
        guard !isStopped else { return finish(attempt, .failure(RedisFailure(.disconnected))) }
        let master = attempt.slot.map { map[$0] } ?? map.masters.first { masters.usable($0.id) != nil }
        guard let master, let link = masters.usable(master.id) else { return unsent(attempt) }
        send(attempt, on: link, asking: false)
    }

    private func unsent(_ attempt: Attempt) {
        var attempt = attempt
        step(attempt.tries.unsent(nowMs: context.reactor.nowMs), attempt)
    }

    private func send(_ attempt: Attempt, on link: CallLink, asking: Bool) {
        if asking { link.call(RedisCall("ASKING")) { _ in } }
        let call: RedisCall =
            switch attempt.work {
            case .call(let call, _): call
            case .script(let flight): registry.encoded(flight.call.fenced(link.fence), flight.form)
            }
        link.call(call, deadlineMs: attempt.tries.deadlineMs) { [weak self] result in
            self?.answered(attempt, result, by: link)
        }
    }

    private func answered(_ attempt: Attempt, _ result: Result<RESPValue, RedisFailure>, by link: CallLink) {
        let outer = writer
        writer = link.facts?.runID
        defer { writer = outer }
        guard case .failure(let failure) = result, !isStopped else { return finish(attempt, result) }
        var attempt = attempt
        attempt.failure = failure
        let here = masters.address(of: link)
        let host = here?.host ?? ""
        let (step, hint) = attempt.tries.failed(
            failure, isKnown: { map.knows($0.asked(at: host)) }, nowMs: context.reactor.nowMs)
        switch hint {
        case .none: break
        case .stale: observer.hint(.suspicion)
        case .moved(let slot, let address):
            let address = address.asked(at: host)
            masters.redirected(by: link)
            // The node that redirected the call has a map with the slot's new owner.
            let isKnown = map.patch(slot, to: address)
            observer.hint(isKnown ? .suspicion : here.map { .redirected($0) } ?? .suspicion)
        }
        switch step {
        case .ask(let address): ask(attempt, at: address.asked(at: host))
        case .finish, .again: self.step(step, attempt)
        }
    }

    private func step(_ step: ClusterAttempts.Step, _ attempt: Attempt) {
        switch step {
        case .finish: finish(attempt, .failure(attempt.failure))
        case .again(afterMs: 0): dispatch(attempt)
        case .again(let afterMs):
            guard waiting.count < target.inFlightMax else {
                return finish(attempt, .failure(RedisFailure(.inFlightFull)))
            }
            let dueMs = context.reactor.nowMs + afterMs
            waiting.append((dueMs, attempt))
            wake(atMs: dueMs)
        case .ask(let address): ask(attempt, at: address)
        }
    }

    private func ask(_ attempt: Attempt, at address: ClusterAddress) {
        guard let link = masters.usable(at: address) else {
            // The node has no slot yet, so there is no link to it; a new map will contain it.
            observer.hint(.suspicion)
            return unsent(attempt)
        }
        send(attempt, on: link, asking: true)
    }

    private func finish(_ attempt: Attempt, _ result: Result<RESPValue, RedisFailure>) {
        switch attempt.work {
        case .call(_, let completion): completion(result)
        case .script(let flight):
            var actions: [ScriptLanes<Completion>.Action] = []
            let nowMs = context.reactor.nowMs
            switch result {
            case .success(let value): lanes.replied(flight, value, nowMs: nowMs, into: &actions)
            case .failure(let failure) where failure.kind == .noScript:
                lanes.replied(flight, .error(Array(failure.detail.utf8)), nowMs: nowMs, into: &actions)
            case .failure(let failure):
                flight.context(.failure(failure))
                lanes.abandoned(flight, nowMs: nowMs, into: &actions)
            }
            perform(actions)
        }
    }

    private func perform(_ actions: [ScriptLanes<Completion>.Action]) {
        for action in actions {
            switch action {
            case .send(let flight): begin(flight)
            case .finish(let completion, let value):
                completion(value.failure.map { .failure($0) } ?? .success(value))
            case .expire(let completion): completion(.failure(RedisFailure(.timedOut)))
            }
        }
    }

    // MARK: Time

    /// Lets waiting calls be sent by the next timer, because a master accepts calls from now on.
    private func tryAgain() {
        let nowMs = context.reactor.nowMs
        for index in waiting.indices { waiting[index].dueMs = min(waiting[index].dueMs, nowMs) }
        wake(atMs: nowMs)
    }

    /// Sets the timer to fire at that time, or keeps an earlier one.
    private func wake(atMs: Int) {
        guard atMs < timerMs else { return }
        timerMs = atMs
        timer?.set(atMs: atMs)
    }

    private func timerFired() {
        timerMs = Int.max
        let nowMs = context.reactor.nowMs
        let due = waiting.filter { $0.dueMs <= nowMs }
        waiting.removeAll { $0.dueMs <= nowMs }
        for (_, attempt) in due { dispatch(attempt) }
        if let next = [waiting.map(\.dueMs).min(), masters.closeIdle(nowMs: nowMs)].compactMap({ $0 }).min() {
            wake(atMs: max(next, nowMs + 1))
        }
    }
}

@available(*, unavailable)
extension ClusterLink: Sendable {}
