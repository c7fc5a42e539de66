import Calls
import Configuration
import Connections
import Core
import Fleet
import Operations
import Reactors
import RedisLink
import Rights
import Service
import Transports

/// Asks all gateways through Redis as a node that has no clients and announces itself to nobody.
///
/// It reads the secret that all nodes share, so its questions are sealed like theirs. Thread: the reactor's.
final class TopAsker: BusSubscriberOwner, FleetSource {
    private let reactor: Reactor
    private let settings: TopSettings
    private let keys: Keys
    private let name: [UInt8]
    private let clock = NodeClock()
    private let figures: NodeFigures
    private let access: FleetAccess
    private var redis: WholeRedis?
    private var subscriber: (any BusSubscriber)?
    private var fleet: FleetService?
    private var reader: TopRedisReader?
    private var timer: ReactorTimer?
    /// The round that waits for the return of its mark on the own channel.
    private var proof: TopProof?
    private var rounds = 0
    private var unproven = 0

    /// Time within which a mark returns, and after which it is published again, milliseconds.
    private static let (proofMs, markMs) = (1_000, 50)
    /// Rounds without a mark after which the subscription is made anew.
    private static let unprovenMax = 3

    /// Begins to dial.
    init(_ settings: TopSettings, _ target: RedisTarget, _ reactor: Reactor) throws(Errno) {
        self.settings = settings
        self.reactor = reactor
        keys = settings.keys
        name = Array("top-".utf8) + SecureRandom.text(byteCount: 6)
        let limits = settings.limits
        figures = NodeFigures(
            limits, name: String(decoding: name, as: UTF8.self), redisUser: target.url.userName, configHash: "",
            routes: AnsweredRoutes([]))
        access = FleetAccess(limits, nowMs: reactor.nowMs)
        let context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(limits, reactors: 1))
        var target = target
        target.layout = LayoutGuard(keys)
        target.layout?.marks = false
        let redis = try WholeRedis(
            context, target, name: "switchboard-top", registry: .none, tell: { _ in })
        self.redis = redis
        subscriber = try redis.subscribe(name: "switchboard-top", inbox: keys.node(name), owner: self)
        let address = ShardAddress(node: name, shard: 0)
        let statistics = ShardStatistics(
            transport: TransportStatistics(), loop: reactor.statistics, namespaces: [], timed: figures.timed)
        let fleetContext = FleetContext(
            address: address, shardCount: 0, keys: keys, link: redis.link, clock: ShardClock(reactor, clock),
            limits: limits, access: access, figures: figures, statistics: statistics, send: { _, _ in false })
        fleet = try FleetService(fleetContext, self, reactor)
        reader = TopRedisReader(
            redis: redis, keys: keys,
            queues: QueueReader(link: redis.link, keys: keys, services: [], figures: figures))
        timer = try ReactorTimer(reactor) { [unowned self] in publishMark() }
        reactor.onTurnEnd = { [unowned self] in subscriber?.flush() }
    }

    /// The cause for which Redis cannot be used, in words.
    private var trouble: String { "Redis cannot be used: " + TopText.clean(redis?.trouble ?? "no answer") }

    /// Whether Redis refuses this program, so that waiting does not help.
    private var isRefused: Bool {
        guard let kind = redis?.failure?.kind else { return false }
        return [.noAuthentication, .wrongPassword, .noPermission, .otherLayout, .otherFormat].contains(kind)
    }

    /// Ends every link.
    func stop() {
        redis?.stop()
        timer?.invalidate()
    }

    // MARK: A round

    /// Asks everybody; the completion always runs, and never before this returns when Redis is there.
    func ask(_ questions: TopQuestions, _ completion: @escaping (TopAnswers) -> Void) {
        let round = TopRound { [clock] answers in
            var answers = answers
            answers.wallMs = clock.wallMs
            completion(answers)
        }
        guard let redis, redis.link.isReady else { return end(round, trouble, mayPass: !isRefused) }
        let began = (wall: Clock.wallMs(), monotonic: Clock.monotonicMs())
        redis.link.call(NodeCall.call(keys, nil, keepMs: 0)) { [weak self] result in
            self?.learned(result, began, questions, round)
        }
    }

    private func end(_ round: TopRound, _ trouble: String, mayPass: Bool = false) {
        (round.answers.trouble, round.answers.mayPass) = (trouble, mayPass)
        round.end()
    }

    /// Takes the time of Redis and the live processes, and reads the secret.
    private func learned(
        _ result: Result<RESPValue, RedisFailure>, _ began: (wall: Int, monotonic: Int), _ questions: TopQuestions,
        _ round: TopRound
    ) {
        guard case .success(let value) = result, let answer = NodeCall.Answer(value) else {
            return refused(round, "tell the live processes", result)
        }
        let (wallMs, nowMs) = (Clock.wallMs(), Clock.monotonicMs())
        let offsetMs = (began.wall + wallMs) / 2 - answer.timeMs
        let book = figures.nodes.withLock { book in
            _ = book.learned(answer.others, offsetMs: offsetMs, nowMs: answer.timeMs)
            return book
        }
        // As the nodes do: they refuse a question of another time.
        if book.verdict?.followsOwn == true {
            clock.followOwn()
        } else {
            clock.follow(baseMs: answer.timeMs - (began.monotonic + nowMs) / 2)
        }
        round.answers.announced = answer.others.count { $0.kind == .gateway }
        round.answers.gone = book.departed.map {
            (String(decoding: $0.name, as: UTF8.self), max(0, answer.timeMs - $0.seenMs) / 1_000)
        }
        redis?.link.call(RedisCall("GET", keys.nodeSecret)) { [weak self] result in
            self?.tookSecret(result, questions, round)
        }
    }

    private func tookSecret(
        _ result: Result<RESPValue, RedisFailure>, _ questions: TopQuestions, _ round: TopRound
    ) {
        guard case .success(let value) = result else {
            return refused(round, "show the secret of the nodes", result)
        }
        guard round.answers.announced > 0 else {
            let prefix = settings.redisPrefix.isEmpty ? "" : " with keys that begin with \(settings.redisPrefix)"
            return end(round, "no gateway works on this Redis" + prefix)
        }
        guard let secret = value.bytes, secret.count == NodeSeal.secretBytes else {
            return end(round, "the nodes have no secret in Redis yet, and nobody can be asked")
        }
        access.use(secret)
        prove(round) { [weak self] in self?.askAll(questions, round) }
    }

    private func refused(_ round: TopRound, _ what: String, _ result: Result<RESPValue, RedisFailure>) {
        guard case .failure(let failure) = result else {
            return end(round, "Redis does not \(what): another reply was expected")
        }
        let text = "Redis does not \(what): \(failure.metricLabel) \(failure.detail)"
        end(round, TopText.clean(text), mayPass: failure.reaction != .failFast)
    }

    // MARK: The own channel

    /// Goes on once a mark has returned on the own channel: before that, answers would be lost.
    private func prove(_ round: TopRound, _ proceed: @escaping () -> Void) {
        rounds += 1
        proof = TopProof(mark: Array("~\(rounds)".utf8), untilMs: reactor.nowMs + TopAsker.proofMs, round, proceed)
        publishMark()
    }

    /// Publishes the mark, and again after a while: the subscription may not be live yet.
    private func publishMark() {
        guard let proof else { return }
        guard reactor.nowMs < proof.untilMs else {
            self.proof = nil
            return unheard(proof.round)
        }
        timer?.set(atMs: reactor.nowMs + TopAsker.markMs)
        redis?.link.call(RedisCall("PUBLISH", keys.node(name), proof.mark)) { [weak self] result in
            guard case .failure = result, let self, self.proof?.mark == proof.mark else { return }
            self.proof = nil
            refused(proof.round, "take a message for the nodes", result)
        }
    }

    private func returned(_ mark: [UInt8]) {
        guard let proof, proof.mark == mark else { return }
        self.proof = nil
        unproven = 0
        timer?.clear()
        proof.proceed()
    }

    private func unheard(_ round: TopRound) {
        unproven += 1
        if unproven.isMultiple(of: TopAsker.unprovenMax) { subscriber?.reconnect([], RedisFailure(.timedOut)) }
        var cause = ""
        if case .down(let failure?)? = subscriber?.report(of: []) {
            cause = ": \(failure.metricLabel) \(failure.detail)"
        }
        let channel = String(decoding: keys.node([]), as: UTF8.self)
        let text = "Redis does not deliver messages on \(channel)*, by which nodes answer\(cause)"
        end(round, TopText.clean(text), mayPass: true)
    }

    // MARK: Questions

    private func askAll(_ questions: TopQuestions, _ round: TopRound) {
        ask(FleetQuestion(.nodes, limit: FleetQuestion.limits.upperBound), round.part()) { [figures] result in
            var result = result
            let others = figures.nodes.withLock { $0.others }
            result.add(others.filter { $0.kind != .gateway }.map(NodeRow.announced))
            var rows: [UInt8] = []
            result.appendRows(to: &rows)
            round.answers.nodes = rows
            round.answers.missing = result.reasons.map { (String(decoding: $0.node, as: UTF8.self), $0.word) }
        }
        for (pane, question) in questions.lists {
            ask(question, round.part()) { result in
                var rows: [UInt8] = []
                result.appendRows(to: &rows)
                round.answers.lists[pane] = (rows, result.answer.total)
            }
        }
        reader?.ask(round)
        round.end()
    }

    private func ask(
        _ question: FleetQuestion, _ end: @escaping () -> Void, _ take: @escaping (FleetResult) -> Void
    ) {
        guard let fleet else { return end() }
        fleet.ask(question) { result in
            if case .success(let answer) = result { take(answer) }
            end()
        }
    }

    // MARK: FleetSource

    /// Never called: this node has no shard.
    func begin(_ question: FleetQuestion) -> any FleetWalk { TopNothing() }

    // MARK: BusSubscriberOwner

    /// Does nothing: the mark of a round proves it.
    func channelLive(_ channel: [UInt8]) {}

    /// Takes the return of a mark, or the message of a node.
    func channelMessage(_ channel: [UInt8], _ payload: [UInt8]) {
        guard payload.first != UInt8(ascii: "~") else { return returned(payload) }
        guard payload.count <= FleetService.messageBytesMax else { return }
        fleet?.received(payload)
    }

    /// Does nothing: the mark of a round does not return then.
    func channelsLost(_ channels: [[UInt8]], _ failure: RedisFailure) {}
    /// Does nothing: the mark of a round does not return then.
    func allChannelsLost(_ failure: RedisFailure) {}
    /// Does nothing: each round looks at the links.
    func linkChanged(_ server: ServerID) {}
    /// Passes the hint to the watch of the servers.
    func hint(_ hint: ServerHint) { redis?.hint(hint) }
    /// Figures that nobody reads.
    func linkMade(_ name: String, to address: ClusterAddress?) -> RedisStatistics { RedisStatistics() }
}
