public import Commands
public import Configuration
import Connections
public import Core
import Reactors
import RedisLink
import Rights
public import Service

/// Plays calls of a pack's scripts in a Redis of its own, at a time that it moves itself.
///
/// It is a gateway's call and a worker in one: after each step it relays the outbox and runs the refreshes whose keys
/// have changed, until nothing is left to do. There are no leases, budgets and rates. Thread: the caller's.
public final class PackPlayer {
    /// An event that a topic's channel carried.
    public struct Event: Sendable {
        /// The topic.
        public let topic: Topic
        /// The event's name.
        public let name: EventName
        /// One JSON object.
        public let data: [UInt8]
    }

    /// An entry of the outbox that was given up.
    public struct Dead: Sendable {
        /// The command that was to be called, or the topic of the event.
        public let subject: [UInt8]
        /// The reason, as the worker's log tells it.
        public let reason: String
    }

    let parts: WorkerParts
    let time: PlayedTime
    let reactor: Reactor
    let redis: WholeRedis
    let runner: CommandRunner
    let relay: OutboxRelay
    let access: AccessPolicy
    private let ears: PlayEars
    private var events: KeyEvents?
    private var timer: ReactorTimer?
    private var hasExpired = false
    private let faults: Faults
    private var epochs = EpochSource()
    private var isPlaying = false
    private var marks = 0
    /// Sentences about the present case that fail nothing.
    var notes: [String] = []
    var lives = KeyLives()
    var refreshes: DueRefreshes {
        get { ears.refreshes }
        set { ears.refreshes = newValue }
    }

    /// The longest time for an answer of Redis, and for the outbox to become empty, milliseconds.
    static let answerMs = 10_000
    /// The most rounds of refreshes at one time: more are a refresh that wakes itself.
    static let roundsMax = 1_000
    /// The most times at which something is due in one step.
    static let timesMax = 20_000

    /// The lives of the keys that end.
    struct KeyLives {
        /// Redis's time when the lives were last set, milliseconds since 1970.
        var setMs = 0
        /// The rest that the key had then which ends first, milliseconds; `nil` when none ends.
        var soonestMs: Int?
    }

    private final class Faults {
        var texts: [String] = []
    }

    /// Reads the scripts and connects to Redis, which has keys of nobody else.
    public init(_ settings: WorkerSettings, log: Log) throws(StartProblem) {
        let time = PlayedTime()
        self.time = time
        let parts = try WorkerParts(settings, log: log, ownMs: { time.nowMs })
        self.parts = parts
        let faults = Faults()
        self.faults = faults
        ears = PlayEars(parts)
        do {
            access = try AccessPolicy(settings.namespaces)
            reactor = try Reactor(wake: try Wake())
            let context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(parts.limits, reactors: 1))
            redis = try WholeRedis(
                context, parts.redis, name: "switchboard-test", registry: parts.library.table.registry, tell: { _ in })
            runner = CommandRunner(
                link: redis.link, scripts: parts.library.table, settings: parts.commands,
                commands: parts.library.catalogue.command(named:)
            ) { faults.texts.append("\($0): \($1)") }
            relay = OutboxRelay(
                parts: parts, link: redis.link, runner: runner, reactor: reactor, figures: WorkerFigures())
            events = try KeyEvents(
                redis, ears.wish, name: "switchboard-test-events", owner: ears)
            timer = try ReactorTimer(reactor) { [unowned self] in
                hasExpired = true
                reactor.stop()
            }
        } catch {
            throw error as? StartProblem ?? StartProblem("cannot start: \(error)")
        }
        ears.onOutbox = { [unowned self] in relay.woken($0) }
        reactor.onTickEnd = { [unowned self] in
            if isPlaying { relay.work(nowMs: reactor.nowMs) { true } }
        }
        do {
            try wait("Redis cannot be used: " + redis.trouble) { redis.isWhole && events?.isLive == true }
            _ = try reply(
                to: RedisCall("CONFIG", Array("SET".utf8), Array("notify-keyspace-events".utf8), RefreshScheduler.flags)
            )
        } catch {
            throw StartProblem(error.description)
        }
    }

    /// The scripts and their routes.
    public var catalogue: Catalogue { parts.library.catalogue }
    /// Now, milliseconds since 1970.
    public var nowMs: Int { time.nowMs }

    /// Ends the links.
    public func stop() {
        events?.stop()
        redis.stop()
        timer?.invalidate()
    }

    // MARK: Cases

    /// Begins a case: Redis is empty, and it is that time.
    public func begin(atMs nowMs: Int) throws(PlayFailure) {
        isPlaying = false
        time.set(nowMs)
        _ = try reply(to: RedisCall("FLUSHALL"))
        try move(by: 0)
        ears.forget()
        faults.texts = []
        notes = []
        relay.hold()
        isPlaying = true
    }

    /// The events since the last call, in the order in which Redis published them.
    public func takeEvents() -> [Event] {
        defer { ears.events = [] }
        return ears.events
    }

    /// The faults of scripts since the last call: the script's name, and its file and line.
    public func takeFaults() -> [String] {
        defer { faults.texts = [] }
        return faults.texts
    }

    /// Sentences since the last call about what is doubtful, and fails nothing.
    public func takeNotes() -> [String] {
        defer { notes = [] }
        return notes
    }

    /// The number of events since they were taken.
    var heardCount: Int { ears.events.count }

    /// Reads and forgets the entries that were given up.
    public func takeDead() throws(PlayFailure) -> [Dead] {
        let name = parts.keys.outboxDead
        let entries = try reply(to: RedisCall("XRANGE", name, Array("-".utf8), Array("+".utf8))).elements ?? []
        _ = try reply(to: RedisCall("UNLINK", name))
        return entries.compactMap { entry in
            let words = (entry.elements?.last?.elements ?? []).map { $0.bytes ?? [] }
            func field(_ name: String) -> [UInt8]? {
                stride(from: 0, to: words.count - 1, by: 2).first { words[$0].elementsEqual(name.utf8) }
                    .map { words[$0 + 1] }
            }
            return Dead(
                subject: field("c") ?? field("t") ?? field("m") ?? [],
                reason: String(decoding: field("reason") ?? [], as: UTF8.self))
        }
    }

    // MARK: Waiting

    /// Runs the loop until the condition holds; throws the sentence when it does not in time.
    func wait(_ sentence: @autoclosure () -> String, until condition: () -> Bool) throws(PlayFailure) {
        hasExpired = false
        timer?.set(atMs: Clock.monotonicMs() + PackPlayer.answerMs)
        let turn = reactor.onTurnEnd
        reactor.onTurnEnd = { [reactor] in reactor.stop() }
        defer { reactor.onTurnEnd = turn }
        while !condition() {
            guard !hasExpired else { throw PlayFailure(sentence()) }
            reactor.run()
        }
        timer?.clear()
    }

    /// Makes one call of Redis and waits for its reply.
    func reply(to call: RedisCall) throws(PlayFailure) -> RESPValue {
        try answer { redis.link.call(call, $0) }
    }

    /// Waits for the result of something that Redis does.
    func answer(
        _ begin: (@escaping (Result<RESPValue, RedisFailure>) -> Void) -> Void
    ) throws(PlayFailure) -> RESPValue {
        switch try outcome(begin) {
        case .success(let value): return value
        case .failure(let failure):
            throw PlayFailure("Redis refused a call: \(failure.metricLabel) \(failure.detail)")
        }
    }

    /// Waits for the result of something that this thread's callbacks report.
    func outcome<Outcome>(_ begin: (@escaping (Outcome) -> Void) -> Void) throws(PlayFailure) -> Outcome {
        let box = Box<Outcome>()
        begin { box.value = $0 }
        try wait("Redis did not answer in time: " + redis.trouble) { box.value != nil }
        guard let value = box.value else { throw PlayFailure("Redis did not answer") }
        return value
    }

    private final class Box<Value> {
        var value: Value?
    }

    /// Waits until every message has arrived that Redis published before.
    func settleEars() throws(PlayFailure) {
        marks += 1
        let mark = Array("\(marks)".utf8)
        _ = try reply(to: RedisCall("PUBLISH", PlayEars.markChannel, mark))
        try wait("Redis did not send a message in time") { ears.lastMark == mark }
    }

    /// Keys whose ends are set until the next call do not count as changed.
    func ignoreEnds(_ ignores: Bool) { ears.ignoresEnds = ignores }

    /// The name of a refresh for messages.
    func label(_ name: DueRefreshes.Name) -> String {
        let id = String(decoding: name.id, as: UTF8.self)
        return "\(catalogue.refreshes[name.refresh].name) of \(PrintableText.clean(id))"
    }

    /// A stamp of a call at the present time.
    func stamp(of key: [UInt8]) throws(PlayFailure) -> CommandCallBuilder.CallStamp {
        guard let run = redis.link.fence(of: key) else { throw PlayFailure("Redis has gone: " + redis.trouble) }
        return CommandCallBuilder.CallStamp(nowMs: nowMs, run: run, epoch: epochs.next(), random: [])
    }
}

@available(*, unavailable)
extension PackPlayer: Sendable {}
