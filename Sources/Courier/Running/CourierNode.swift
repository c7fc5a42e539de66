public import Configuration
import Reactors
public import Service
import Synchronization

/// A running courier: starts its thread and stops it.
///
/// Thread: main.
public final class CourierNode: Sendable {
    private let wake: Wake
    private let isStopping = Atomic<Bool>(false)
    private let ready = Atomic<Bool>(false)
    private let ended = Atomic<Bool>(false)
    private let thread = Guarded<Reactors.Thread?>(nil)
    /// Where operations are served, the real port; `nil` for nowhere.
    public let operations: HostPort?

    /// Reads every file and starts the thread; Redis may come later.
    public init(_ settings: CourierSettings, log: Log) throws(StartProblem) {
        let parts = try CourierParts(settings, log: log)
        operations = parts.door?.address
        do {
            wake = try Wake()
            let started = try Reactors.Thread.start("courier") { [self] in run(parts) }
            thread.withLock { $0 = started }
        } catch {
            throw StartProblem("cannot start the courier: \(error)")
        }
    }

    private func run(_ parts: CourierParts) {
        defer { ended.store(true, ordering: .releasing) }
        do throws(Errno) {
            let reactor = try Reactor(wake: wake)
            let courier = try Courier(parts, reactor: reactor) { [self] in ready.store(true, ordering: .releasing) }
            reactor.onMailbox = { [self] in
                if isStopping.load(ordering: .acquiring) { courier.end() }
            }
            withExtendedLifetime(courier) { reactor.run() }
        } catch {
            parts.log.write(.error, "the courier cannot run", [("reason", error.description)])
        }
    }

    /// Whether it is connected and told of events.
    public var isReady: Bool { ready.load(ordering: .acquiring) }

    /// Whether its thread has ended, asked to or not.
    public var hasEnded: Bool { ended.load(ordering: .acquiring) }

    /// Lets what is in hand end, then ends the thread; waits a few seconds at most.
    public func stop() {
        isStopping.store(true, ordering: .releasing)
        wake.signal()
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }
}
