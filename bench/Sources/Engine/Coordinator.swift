import Core
import Glibc
import Reactors

/// The main process of a run: starts the others, sends them commands, and merges their reports.
///
/// How to add a scenario:
/// 1. its name in ``BenchOptions/Scenario``, and a file `Scenarios/NameScenario.swift` with a ``BenchScenario``, added
///    to ``BenchOptions/Scenario/make(_:)``. Its `run` calls, in its order, ``startClients(_:)``,
///    ``startPublisher()``, ``openClients(_:)``, ``load(rate:seconds:)`` or ``tell(_:)`` and
///    ``turn(seconds:until:)``, and returns a ``BenchResult``, best begun with ``result(_:)``;
/// 2. where its clients do more than subscribe and count: a ``ClientBehaviour`` in a file of its own, with its name in
///    ``BehaviourKind``. It runs in the client processes. It reports to its scenario by ``figures``, to which it
///    adds, and by ``said``; the scenario sends it texts by ``tell(_:)``;
/// 3. flags of its own in ``BenchOptions``, which every process has; further counts in ``RunFigures``.
///
/// Thread: main.
final class Coordinator {
    let options: BenchOptions
    private(set) var agents: [AgentProcess] = []
    /// The figures since the last ``forget()``, or of the current load.
    private(set) var figures = RunFigures()
    /// The same by second of the load.
    private(set) var seconds: [Int: RunFigures] = [:]
    /// Texts of the behaviours.
    var said: [String] = []
    private(set) var notes: [String] = []
    /// Cores busy in the last second of the current load.
    private(set) var lastCores: (server: Double, tool: Double)?
    let reactor: Reactor
    private var timer: ReactorTimer?
    private var loadUs = 0
    private var sequenceBase = 0
    private var failure: BenchFailure?
    private var isDone: () -> Bool = { true }
    private var deadlineUs = 0
    private let progress = Progress()

    private static let stepMs = 5

    init(_ options: BenchOptions) throws(BenchFailure) {
        self.options = options
        do {
            reactor = try Reactor(wake: try Wake())
            timer = try ReactorTimer(reactor) { [unowned self] in step() }
        } catch {
            throw BenchFailure("cannot start: \(error)")
        }
    }

    // MARK: Processes

    /// Starts the client processes, which do not connect yet.
    func startClients(_ kind: BehaviourKind) throws(BenchFailure) {
        let count = options.processes
        var first = 0
        for index in 0..<count {
            let share = options.connections / count + (index < options.connections % count ? 1 : 0)
            try start(.clients(kind, first: first, count: share), index: index, count: count)
            first += share
        }
    }

    /// Starts the publisher's process, unless the clients publish, and waits until it is connected.
    func startPublisher() throws(BenchFailure) {
        guard options.publish != .clients else { return }
        try start(.publisher, index: 0, count: 1)
        guard try turn(seconds: 30, until: { [unowned self] in publisherIsDone }) else {
            throw BenchFailure("the publisher cannot connect" + (notes.first.map { ": " + $0 } ?? ""))
        }
    }

    private func start(_ role: AgentSettings.Role, index: Int, count: Int) throws(BenchFailure) {
        let settings = AgentSettings(role: role, options: options, index: index, count: count)
        agents.append(
            try AgentProcess(
                reactor, settings, took: { [unowned self] in took($0) },
                failed: { [unowned self] in
                    failure = failure ?? $0
                    reactor.stop()
                }))
    }

    private func took(_ snapshot: AgentSnapshot) {
        for note in snapshot.notes where !notes.contains(note) { notes.append(note) }
        said += snapshot.said
        guard snapshot.loadUs == loadUs else { return }
        figures.merge(snapshot.figures)
        if loadUs > 0 { seconds[snapshot.second, default: RunFigures()].merge(snapshot.figures) }
    }

    /// Sends a command to all client processes.
    func tell(_ command: AgentCommand) throws(BenchFailure) {
        for agent in clientAgents { try agent.tell(command) }
    }

    /// Adds a remark to the report.
    func note(_ text: String) { notes.append(text) }

    private var clientAgents: [AgentProcess] {
        agents.filter { if case .clients = $0.settings.role { true } else { false } }
    }

    private var publisherIsDone: Bool {
        agents.allSatisfy { if case .publisher = $0.settings.role { $0.isDone } else { true } }
    }

    /// Whether no process has anything under way.
    var isQuiet: Bool { agents.allSatisfy { $0.isDone } }
    /// Clients that are live.
    var live: Int { agents.reduce(0) { $0 + $1.state.live } }
    /// Clients without a connection.
    var away: Int { clientAgents.reduce(0) { $0 + $1.state.away } }

    // MARK: Time

    /// Runs the loop until the condition holds; false when the time is over first.
    @discardableResult
    func turn(seconds: Double, until condition: @escaping () -> Bool = { false }) throws(BenchFailure) -> Bool {
        try turn(untilUs: Clock.monotonicUs() + Int(seconds * 1_000_000), until: condition)
    }

    /// The same, until a time of CLOCK_MONOTONIC.
    @discardableResult
    func turn(untilUs: Int, until condition: @escaping () -> Bool = { false }) throws(BenchFailure) -> Bool {
        isDone = condition
        deadlineUs = untilUs
        timer?.set(atMs: 0)
        reactor.run()
        if let failure { throw failure }
        return condition()
    }

    private func step() {
        let nowUs = Clock.monotonicUs()
        progress.show(self, nowUs: nowUs)
        if isDone() || nowUs >= deadlineUs { return reactor.stop() }
        timer?.set(atMs: min(nowUs / 1_000 + Coordinator.stepMs, (deadlineUs + 999) / 1_000))
    }

    // MARK: Connections

    /// Figures of opening the connections.
    struct Opening {
        var live: Int
        /// Seconds from the first connect until the last client was live.
        var seconds: Double
        var connect: LatencyHistogram
        /// Nanoseconds of the server's CPU.
        var serverNs: Int
    }

    /// Connects all clients; returns when each is live or has failed.
    func openClients(seconds limit: Double = 300) throws(BenchFailure) -> Opening {
        let server = CPUClock(pids: options.pids)
        forget()
        let beforeNs = server.nanoseconds()
        progress.say("connect", untilUs: Clock.monotonicUs() + Int(limit * 1_000_000))
        try tell(.open)
        try turn(seconds: limit) { [unowned self] in clientAgents.allSatisfy { $0.isDone } }
        let opened = clientAgents.map(\.state)
        let firstUs = opened.map(\.openedUs).filter { $0 > 0 }.min() ?? 0
        let lastUs = opened.map(\.liveUs).max() ?? 0
        return Opening(
            live: live, seconds: Double(max(lastUs - firstUs, 0)) / 1_000_000, connect: figures.connect,
            serverNs: server.nanoseconds() - beforeNs)
    }

    /// Disconnects all clients; false when some are still connected after the time.
    func closeClients(seconds limit: Double = 60) throws(BenchFailure) -> Bool {
        progress.say("close", untilUs: Clock.monotonicUs() + Int(limit * 1_000_000))
        try tell(.close)
        return try turn(seconds: limit) { [unowned self] in away == options.connections }
    }

    /// Resets all counts; later ones belong to no load.
    func forget() {
        figures = RunFigures()
        seconds = [:]
    }

    /// The gateway's counts of encodings and publishes so far; `nil` for a peer, and for a gateway without these
    /// figures.
    func encodings() throws(BenchFailure) -> (encodings: Int, publishes: Int)? {
        guard options.target == .switchboard, let url = options.urls.first.flatMap({ CrowdOptions.URL($0) }) else {
            return nil
        }
        let reader = try MetricsReader(reactor, url)
        try turn(seconds: 5) { reader.isDone }
        return reader.encodings
    }

    // MARK: Load

    /// The measurements of one load.
    struct Outcome {
        var plan: LoadPlan
        var figures: RunFigures
        var seconds: [Int: RunFigures]
        /// Busy cores in each second: the server's, the tool's.
        var cores: [(server: Double, tool: Double)]
        var serverNs: Int
        var toolNs: Int
        var redisNs: Int
        var privateBytes: Int
        var live: Int
        /// The actual length of the measured window, seconds.
        var elapsed: Double

        var lost: Int { max(figures.expected - figures.delivered, 0) }
        var isWhole: Bool { lost == 0 && figures.refused == 0 && figures.duplicates == 0 && figures.broken == 0 }
    }

    /// Publishes at a rate: the warm-up, then the measured seconds, then a wait of at most 5 s for messages under way.
    ///
    /// `members`: how many clients have to receive the messages; all of them by default.
    func load(rate: Int, seconds count: Int, members: Int? = nil) throws(BenchFailure) -> Outcome {
        let startUs = Clock.monotonicUs() + 300_000
        let plan = LoadPlan(
            startUs: startUs, warmUpSeconds: options.warmUp, seconds: count, rate: rate, topics: options.topics,
            members: members ?? live, sequenceBase: sequenceBase)
        sequenceBase = plan.nextSequenceBase
        forget()
        loadUs = startUs
        for agent in agents { try agent.tell(.load(plan)) }
        progress.say("warm up", untilUs: plan.measureUs)
        try turn(untilUs: plan.measureUs)
        progress.begin(plan)
        let clocks = Clocks(self)
        var samples = [clocks.sample()]
        var cores: [(server: Double, tool: Double)] = []
        for second in 1...count {
            try turn(untilUs: plan.measureUs + second * 1_000_000)
            samples.append(clocks.sample())
            cores.append(Clocks.cores(samples[second - 1], samples[second]))
            lastCores = cores.last
        }
        let privateBytes = options.pids.reduce(0) { $0 + ((try? ProcessFigures(pid: $1))?.privateBytes ?? 0) }
        try turn(seconds: 5) { [unowned self] in isQuiet && figures.delivered >= figures.expected }
        progress.end()
        let (first, last) = (samples[0], samples[samples.count - 1])
        return Outcome(
            plan: plan, figures: figures, seconds: seconds, cores: cores, serverNs: last.server - first.server,
            toolNs: last.tool - first.tool, redisNs: last.redis - first.redis, privateBytes: privateBytes, live: live,
            elapsed: Double(last.us - first.us) / 1_000_000)
    }

    /// The CPU clocks of a run, read together.
    private struct Clocks {
        let (server, tool, redis): (CPUClock, CPUClock, CPUClock)

        init(_ coordinator: Coordinator) {
            server = CPUClock(pids: coordinator.options.pids)
            tool = CPUClock(pids: coordinator.agents.map(\.pid) + [getpid()])
            redis = CPUClock(pids: coordinator.options.redisPid > 0 ? [Int32(coordinator.options.redisPid)] : [])
        }

        typealias Sample = (us: Int, server: Int, tool: Int, redis: Int)

        /// Cores busy between two samples.
        static func cores(_ before: Sample, _ after: Sample) -> (server: Double, tool: Double) {
            let ns = Double(max(after.us - before.us, 1)) * 1_000
            return (Double(after.server - before.server) / ns, Double(after.tool - before.tool) / ns)
        }

        func sample() -> Sample {
            (Clock.monotonicUs(), server.nanoseconds(), tool.nanoseconds(), redis.nanoseconds())
        }
    }
}
