import CLinux
import Glibc
import Reactors

/// The task of an agent: drives clients, or publishes.
///
/// Thread: main.
protocol AgentPart: AnyObject {
    func obey(_ command: AgentCommand)
    /// Called every ``Agent/stepMs``.
    func tick(_ nowUs: Int)
    /// The changes since the last snapshot; the caller sets `second`.
    func snapshot() -> AgentSnapshot
}

/// One process of a run, the coordinator's child: `switchboard-bench agent`.
///
/// Its settings are the first line of its input, followed by commands; it writes its snapshots to its output, one line
/// each. It ends with its input, so that none outlives the coordinator. Thread: main.
final class Agent {
    private let reactor: Reactor
    private var part: (any AgentPart)?
    private var input: LineSource?
    private var timer: ReactorTimer?
    private var plan: LoadPlan?
    private var commands = 0
    private var nextSnapshotUs = 0
    private var failure: BenchFailure?

    static let stepMs = 10
    private static let snapshotUs = 200_000

    init() throws(BenchFailure) {
        do {
            reactor = try Reactor(wake: try Wake())
            timer = try ReactorTimer(reactor) { [unowned self] in step() }
            input = try LineSource(reactor, descriptor: STDIN_FILENO) { [unowned self] in took($0) }
        } catch {
            throw BenchFailure("cannot start: \(error)")
        }
    }

    /// Runs until its input ends.
    func run() throws(BenchFailure) {
        ProcessLimits.raiseDescriptors()
        reactor.run()
        if let failure { throw failure }
    }

    private func took(_ line: [UInt8]?) {
        guard let line else { return reactor.stop() }
        do throws(BenchFailure) {
            guard let part else { return try begin(try JSONLine.decode(AgentSettings.self, line)) }
            let command = try JSONLine.decode(AgentCommand.self, line)
            tellSnapshot(Clock.monotonicUs())
            if case .load(let plan) = command { self.plan = plan }
            part.obey(command)
            commands += 1
        } catch {
            end(error)
        }
    }

    private func begin(_ settings: AgentSettings) throws(BenchFailure) {
        switch settings.role {
        case .publisher:
            // To be on time, it precedes other work on its core.
            Reactors.Thread.setSlice(us: 100)
            part = try PublisherPart(reactor, settings)
        case .clients(let kind, let first, let count):
            if settings.options.pin >= 0, swb_pin_to_cpu(Int32(settings.options.pin)) != 0 {
                throw BenchFailure("cannot run on CPU \(settings.options.pin): \(Errno.current)")
            }
            // Clients stand for other machines: processes on their core, such as the target's Redis, do not wait for
            // them.
            Reactors.Thread.setSlice(us: 20_000)
            part = try ClientCrew(reactor, settings, kind, first: first, count: count)
        }
        timer?.set(atMs: 0)
    }

    private func step() {
        let nowUs = Clock.monotonicUs()
        part?.tick(nowUs)
        // A boundary between two seconds is also one between two snapshots.
        if nowUs >= nextSnapshotUs { tellSnapshot(nowUs) }
        timer?.set(atMs: nowUs / 1_000 + Agent.stepMs)
    }

    private func tellSnapshot(_ nowUs: Int) {
        guard let part else { return }
        var snapshot = part.snapshot()
        snapshot.commands = commands
        snapshot.loadUs = plan?.startUs ?? 0
        // It covers the time up to now, and may be a moment late.
        snapshot.second = plan.map { $0.second(nowUs - Agent.snapshotUs / 2) } ?? -1
        let phaseUs = plan.map { $0.startUs % Agent.snapshotUs } ?? 0
        nextSnapshotUs = ((nowUs - phaseUs) / Agent.snapshotUs + 1) * Agent.snapshotUs + phaseUs
        do throws(BenchFailure) {
            let line = try JSONLine.encode(snapshot)
            var written = 0
            while written < line.count {
                let start = written
                written += try Agent.write(line[start...])
            }
        } catch {
            end(error)
        }
    }

    private static func write(_ bytes: ArraySlice<UInt8>) throws(BenchFailure) -> Int {
        do {
            return try retrying {
                unsafe bytes.withUnsafeBytes { unsafe Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            }
        } catch {
            throw BenchFailure("cannot tell the coordinator: \(error)")
        }
    }

    private func end(_ failure: BenchFailure) {
        self.failure = failure
        reactor.stop()
    }
}

/// The process's limits.
enum ProcessLimits {
    /// Raises the limit of descriptors to the maximum allowed.
    static func raiseDescriptors() {
        var files = rlimit()
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(kind, &files) == 0 else { return }
        files.rlim_cur = files.rlim_max
        _ = unsafe setrlimit(kind, &files)
    }
}
