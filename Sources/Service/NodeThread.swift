public import Configuration
public import Reactors
import Synchronization

/// The object that lives on a node's thread and is ended there.
public protocol NodeResident: AnyObject {
    /// Finishes the present work, then stops the reactor. Called on the reactor's thread, once or more.
    func end()

    /// Reads its files again, and keeps the old values when a file is invalid. Called on the reactor's thread.
    func reload()
}

/// A thread with a reactor and its resident, which this type starts and stops.
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
    /// The address at which operations are served, with the real port; `nil`: none.
    public let operations: HostPort?
    /// The times for which the process stood still, for the resident's metrics.
    public let stalls: ProcessStalls

    /// Starts the thread `name`; `move` makes the resident on it, which calls `onReady` once it is ready.
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

    /// Whether the resident has called `onReady`.
    public var isReady: Bool { ready.load(ordering: .acquiring) }

    /// Whether the thread has ended, by request or by itself.
    public var hasEnded: Bool { ended.load(ordering: .acquiring) }

    /// The number of turns of its loop; also wakes the loop for one more turn, since a loop without work waits for
    /// long.
    public func turns() -> [Int] {
        wake.signal()
        return loop.withLock { $0 }.map { [$0.ticks.value] } ?? []
    }

    /// Makes the resident read its files again.
    public func reload() {
        isReloading.store(true, ordering: .releasing)
        wake.signal()
    }

    /// Makes the resident end, and waits for the thread, as long as the present work takes.
    public func stop() {
        isStopping.store(true, ordering: .releasing)
        wake.signal()
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }
}
