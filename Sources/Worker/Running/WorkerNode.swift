import Commands
public import Configuration
import Reactors
public import Service
import Synchronization

/// A running worker: starts its thread and stops it.
///
/// Thread: main.
public final class WorkerNode: Sendable {
    private let wake: Wake
    private let isStopping = Atomic<Bool>(false)
    private let ready = Atomic<Bool>(false)
    private let ended = Atomic<Bool>(false)
    private let thread = Guarded<Reactors.Thread?>(nil)
    /// Where operations are served, the real port; `nil` for nowhere.
    public let operations: HostPort?

    /// Reads every file and starts the thread; Redis may come later.
    public init(_ settings: WorkerSettings, log: Log) throws(StartProblem) {
        let parts = try WorkerParts(settings, log: log)
        operations = parts.door?.address
        for script in parts.library.catalogue.disabled {
            log.write(.info, "a script is left out", [("script", script.name), ("reason", script.reason)])
        }
        do {
            wake = try Wake()
            let started = try Reactors.Thread.start("worker") { [self] in run(parts) }
            thread.withLock { $0 = started }
        } catch {
            throw StartProblem("cannot start the worker: \(error)")
        }
    }

    private func run(_ parts: WorkerParts) {
        defer { ended.store(true, ordering: .releasing) }
        do throws(Errno) {
            let reactor = try Reactor(wake: wake)
            let worker = try Worker(parts, reactor: reactor) { [self] in ready.store(true, ordering: .releasing) }
            reactor.onMailbox = { [self] in
                if isStopping.load(ordering: .acquiring) { worker.end() }
            }
            withExtendedLifetime(worker) { reactor.run() }
        } catch {
            parts.log.write(.error, "the worker cannot run", [("reason", error.description)])
        }
    }

    /// Whether it has leases and subscriptions.
    public var isReady: Bool { ready.load(ordering: .acquiring) }

    /// Whether its thread has ended, asked to or not.
    public var hasEnded: Bool { ended.load(ordering: .acquiring) }

    /// Gives the leases back and ends the thread; waits at most as long as one command may take.
    public func stop() {
        isStopping.store(true, ordering: .releasing)
        wake.signal()
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }
}
