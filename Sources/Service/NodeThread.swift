public import Configuration
public import Reactors
import Synchronization

/// What lives on a node's thread, and is told to end there.
public protocol NodeResident: AnyObject {
    /// Lets what is in hand end, then stops the reactor. Called on the reactor's thread, once or more.
    func end()

    /// Reads again what files say, and stays as it is when a file is wrong. Called on the reactor's thread.
    func reload()
}

/// A thread with a reactor and what lives on it: started here, and stopped.
///
/// Thread: main.
public final class NodeThread: Sendable {
    private let wake: Wake
    private let isStopping = Atomic<Bool>(false)
    private let isReloading = Atomic<Bool>(false)
    private let ready = Atomic<Bool>(false)
    private let ended = Atomic<Bool>(false)
    private let thread = Guarded<Reactors.Thread?>(nil)
    private let loop = Guarded<LoopStatistics?>(nil)
    /// Where operations are served, the real port; `nil` for nowhere.
    public let operations: HostPort?
    /// Times for which the process stood still, for the resident's metrics.
    public let stalls: ProcessStalls

    /// Starts the thread `name`; `move` makes the resident there, which calls `onReady` when it is ready.
    public init(
        _ name: String, operations: HostPort?, stalls: ProcessStalls, log: Log,
        _ move:
            @escaping @Sendable (_ reactor: Reactor, _ onReady: @escaping () -> Void) throws(Errno) ->
            any NodeResident
    ) throws(StartProblem) {
        (self.operations, self.stalls) = (operations, stalls)
        do {
            wake = try Wake()
            let started = try Reactors.Thread.start(name) { [self] in run(name, log, move) }
            thread.withLock { $0 = started }
        } catch {
            throw StartProblem("cannot start the \(name): \(error)")
        }
    }

    private func run(
        _ name: String, _ log: Log, _ move: (Reactor, @escaping () -> Void) throws(Errno) -> any NodeResident
    ) {
        defer { ended.store(true, ordering: .releasing) }
        do throws(Errno) {
            let reactor = try Reactor(wake: wake)
            loop.withLock { $0 = reactor.statistics }
            let resident = try move(reactor) { [self] in ready.store(true, ordering: .releasing) }
            reactor.onMailbox = { [self] in
                if isReloading.exchange(false, ordering: .acquiringAndReleasing) { resident.reload() }
                if isStopping.load(ordering: .acquiring) { resident.end() }
            }
            withExtendedLifetime(resident) { reactor.run() }
        } catch {
            log.write(.error, "the \(name) cannot run", [("reason", error.description)])
        }
    }

    /// Whether the resident has said so.
    public var isReady: Bool { ready.load(ordering: .acquiring) }

    /// Whether the thread has ended, asked to or not.
    public var hasEnded: Bool { ended.load(ordering: .acquiring) }

    /// How often its loop has turned, and lets it turn once more, since one without work waits for long.
    public func turns() -> [Int] {
        wake.signal()
        return loop.withLock { $0 }.map { [$0.ticks.value] } ?? []
    }

    /// Has the resident read again what files say.
    public func reload() {
        isReloading.store(true, ordering: .releasing)
        wake.signal()
    }

    /// Has the resident end and waits for the thread: as long as what is in hand may take.
    public func stop() {
        isStopping.store(true, ordering: .releasing)
        wake.signal()
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }
}
