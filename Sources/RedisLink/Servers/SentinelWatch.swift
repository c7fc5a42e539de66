public import Connections
internal import Core
public import Reactors

/// Finds the master of a group that Sentinels watch, and notices when another takes its place.
///
/// Each question is sent to all configured Sentinels. The server that more than half of them name is asked itself: it
/// must report that it is a master. ``MasterHistory`` judges whether epochs continue.
///
/// Three things cause a question: a link that is about to dial, a hint (a Sentinel's `+switch-master`, a master that
/// has lost its replicas), and the end of `refreshMs`. One question is under way at a time. Thread: the reactor's.
public final class SentinelWatch: PlacementWatch {
    /// An event for the log.
    public enum Event: Sendable {
        /// A master was found, the first one or the one after trouble.
        case found(master: String)
        /// Another server is the master; the flag is whether epochs continue.
        case switched(from: String, to: String, keepsEpochs: Bool)
        /// The same server writes another history, and epochs end: it was restarted, or changed its replication id.
        case historyChanged(master: String)
        /// There is no usable master.
        case trouble(RedisFailure)
        /// The Sentinels know of more Sentinels than are configured, so that fewer than half may decide.
        case moreSentinels(known: Int, configured: Int)
    }

    private enum Step {
        case idle
        /// The number of missing answers.
        case counting(left: Int)
        case looking(ServerLook)
    }

    private let context: ConnectionContext
    private let target: RedisTarget
    private let group: SentinelGroup
    private let name: String
    private let onMap: (ServerMap) -> Void
    private let onEvent: (Event) -> Void
    private var sentinels: [SentinelVoice] = []
    private var answers: [SentinelAnswer] = []
    private var step = Step.idle
    private var timer: ReactorTimer?
    private var history = MasterHistory()
    private var generation = 0
    private var isAsked = true
    private var earliestMs = 0
    /// The time until which the question is repeated, because a change of the master was reported.
    private var unsettledMs = Int.min
    private var refreshAtMs = 0
    /// The time of the last answer that found a master.
    private var answeredMs = 0
    private var told: RedisFailure?
    private var toldSentinels = 0
    /// The present map.
    public private(set) var map: ServerMap
    /// The same as a placement.
    public var placement: Placement { .servers(map) }
    /// The answers of the last question, for ``SentinelReport``.
    public private(set) var report = SentinelReport()
    /// Figures, readable from any thread.
    public let statistics: SentinelStatistics

    /// Begins to ask; `nil` when the target is not a group that Sentinels watch.
    ///
    /// `onMap` is called after each question, even when nothing has changed.
    public init?(
        _ context: ConnectionContext, _ target: RedisTarget, name: String, statistics: SentinelStatistics,
        onEvent: @escaping (Event) -> Void, onMap: @escaping (ServerMap) -> Void
    ) throws(Errno) {
        guard case .sentinel(let group) = target.url.endpoint else { return nil }
        self.context = context
        self.target = target
        self.group = group
        self.name = name
        self.onEvent = onEvent
        self.onMap = onMap
        self.statistics = statistics
        map = ServerMap(generation: 0, masters: [], trouble: nil)
        statistics.configured.set(group.sentinels.count)
        timer = try ReactorTimer(context.reactor) { [unowned self] in work() }
        for index in group.sentinels.indices {
            guard let url = group.url(of: index) else { continue }
            let voice = try SentinelVoice(context, target.at(url, role: .sentinel), name: name) { [weak self] changed in
                guard let self else { return }
                if changed == self.group.name[...] { suspect() } else if changed == nil { heard() }
            }
            sentinels.append(voice)
        }
        // The links to the Sentinels need a moment.
        earliestMs = context.reactor.nowMs + target.sentinelCallMs
        plan()
    }

    /// Ends every link.
    public func stop() {
        for sentinel in sentinels { sentinel.stop() }
        if case .looking(let look) = step { look.cancel() }
        step = .idle
        timer?.invalidate()
        timer = nil
    }

    /// Takes a reason to ask; `onMap` receives the map when the question is answered.
    public func hint(_ hint: ServerHint) {
        switch hint {
        case .dialling:
            // A recent answer is as good as the next.
            if case .idle = step, map.trouble == nil, context.reactor.nowMs < answeredMs &+ target.sentinelPauseMs {
                return onMap(map)
            }
            isAsked = true
        case .lonely, .suspicion, .redirected: return suspect()
        }
        plan()
    }

    /// Asks because a Sentinel answers again: it may know of a change that was not reported.
    private func heard() {
        if generation == 0, sentinels.count == group.sentinels.count, sentinels.allSatisfy(\.isReady) {
            earliestMs = context.reactor.nowMs
        }
        isAsked = true
        plan()
    }

    /// Asks now and repeatedly for a while, because the master may be changing.
    private func suspect() {
        isAsked = true
        unsettledMs = context.reactor.nowMs + target.sentinelUnsettledMs
        plan()
    }

    private func plan() {
        guard case .idle = step else { return }
        let nowMs = context.reactor.nowMs
        let isSoon = isAsked || unsettledMs > nowMs
        timer?.set(atMs: isSoon ? max(earliestMs, nowMs) : refreshAtMs)
    }

    private func work() {
        switch step {
        case .idle: begin()
        case .counting, .looking: break
        }
    }

    // MARK: One question

    private func begin() {
        isAsked = false
        earliestMs = context.reactor.nowMs + target.sentinelPauseMs
        // The random factor keeps processes from asking at the same time.
        refreshAtMs = context.reactor.nowMs + target.sentinelRefreshMs * Int.random(in: 75...125) / 100
        answers = Array(repeating: .silent(RedisFailure(.disconnected)), count: sentinels.count)
        step = .counting(left: sentinels.count)
        for (index, sentinel) in sentinels.enumerated() {
            sentinel.ask(group.name) { [weak self] in self?.answered(index, $0) }
        }
    }

    private func answered(_ index: Int, _ answer: SentinelAnswer) {
        guard case .counting(let left) = step, answers.indices.contains(index) else { return }
        answers[index] = answer
        step = .counting(left: left - 1)
        guard left == 1 else { return }
        report = SentinelReport(answers)
        statistics.answering.set(report.answering)
        tellSentinels()
        switch SentinelCount(answers, of: group) {
        case .none(let failure): finish(.failure(failure))
        case .master(let address, let epoch): look(at: address, epoch: epoch)
        }
    }

    private func look(at address: SentinelGroup.Address, epoch: Int) {
        look(address) { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure(let failure): finish(.failure(SentinelWatch.unusable(address, failure)))
            case .success(let facts) where facts.role == .master: judge(facts, at: address, epoch: epoch, old: nil)
            case .success(let facts): follow(facts, of: address, epoch: epoch)
            }
        }
    }

    /// Judges the leader of a replica that the Sentinels name: after `FAILOVER`, they name a replica of the new master.
    private func follow(_ old: ServerFacts, of address: SentinelGroup.Address, epoch: Int) {
        guard old.role == .replica, let leader = old.replication.leader, leader != address else {
            return finish(.failure(SentinelWatch.unusable(address, RedisFailure(.readOnly))))
        }
        look(leader) { [weak self] result in
            guard let self else { return }
            // Only a leader that the replica has joined counts: a replica of another server has another id.
            guard case .success(let facts) = result, facts.role == .master,
                facts.replication.id == old.replication.id
            else { return finish(.failure(SentinelWatch.unusable(address, RedisFailure(.readOnly)))) }
            judge(facts, at: leader, epoch: epoch, old: old)
        }
    }

    private func judge(_ facts: ServerFacts, at address: SentinelGroup.Address, epoch: Int, old: ServerFacts?) {
        guard !facts.isLoading else {
            return finish(.failure(SentinelWatch.unusable(address, RedisFailure(.loading))))
        }
        guard old == nil, history.needsOld(for: facts), let before = history.current?.address else {
            return take(facts, at: address, epoch: epoch, old: old)
        }
        look(before) { [weak self] result in
            self?.take(facts, at: address, epoch: epoch, old: try? result.get())
        }
    }

    private func take(_ facts: ServerFacts, at address: SentinelGroup.Address, epoch: Int, old: ServerFacts?) {
        let before = history.current?.address
        switch history.take(facts, at: address, epoch: epoch, old: old) {
        case .refused(let failure): finish(.failure(failure))
        case .accepted(let isProven):
            if let isProven, let before { tellSwitch(from: before, to: address, isProven) }
            finish(.success(address))
        }
    }

    private func look(
        _ address: SentinelGroup.Address, _ completion: @escaping (Result<ServerFacts, RedisFailure>) -> Void
    ) {
        let url = target.url.at(.network(host: address.host, port: address.port, tls: group.tls))
        do {
            step = .looking(
                try ServerLook(context, target.at(url, role: nil), name: name + "-look", completion: completion))
        } catch {
            finish(.failure(RedisFailure(.noMaster, text: "cannot look at \(address.text): \(error.description)")))
        }
    }

    private func finish(_ result: Result<SentinelGroup.Address, RedisFailure>) {
        step = .idle
        var masters: [ServerMap.Master] = []
        var trouble: RedisFailure?
        switch result {
        case .success:
            answeredMs = context.reactor.nowMs
            if let now = history.current {
                masters = [
                    ServerMap.Master(
                        endpoint: .network(host: now.address.host, port: now.address.port, tls: group.tls),
                        history: now.history, admitted: now.admitted)
                ]
            }
        case .failure(let failure): trouble = failure
        }
        if masters != map.masters { generation += 1 }
        map = ServerMap(generation: generation, masters: masters, trouble: trouble)
        tellTrouble(trouble)
        onMap(map)
        plan()
    }

    private static func unusable(_ address: SentinelGroup.Address, _ failure: RedisFailure) -> RedisFailure {
        RedisFailure(
            .noMaster,
            text:
                "the Sentinels name \(address.text), which is no master to use: \(failure.metricLabel) \(failure.detail)"
        )
    }

    // MARK: Reports

    private func tellSwitch(from: SentinelGroup.Address, to: SentinelGroup.Address, _ isProven: Bool) {
        (isProven ? statistics.switchesKept : statistics.switchesReset).add(1)
        onEvent(
            from == to
                ? .historyChanged(master: to.text)
                : .switched(from: from.text, to: to.text, keepsEpochs: isProven))
    }

    private func tellTrouble(_ trouble: RedisFailure?) {
        if trouble != nil { statistics.lost.add(1) }
        let address = trouble == nil ? history.current?.address.text ?? "" : ""
        let before = statistics.master.withLock { master in
            defer { master = address }
            return master
        }
        if let trouble, trouble != told { onEvent(.trouble(trouble)) }
        if trouble == nil, before.isEmpty { onEvent(.found(master: address)) }
        told = trouble
    }

    private func tellSentinels() {
        guard report.sentinels > group.sentinels.count, report.sentinels != toldSentinels else { return }
        toldSentinels = report.sentinels
        onEvent(.moreSentinels(known: report.sentinels, configured: group.sentinels.count))
    }
}

@available(*, unavailable)
extension SentinelWatch: Sendable {}
