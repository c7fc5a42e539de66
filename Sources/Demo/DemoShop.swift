public import Configuration
import Connections
import Core
import Gateway
import Reactors
import RedisLink
import Rights
public import Service
import Synchronization

/// The shop of `switchboard dev`: runs the commands of its simulated days, as any backend may.
///
/// Thread: `start` and `stop` from main; the rest on its own.
public final class DemoShop: Sendable {
    private let wake: Wake
    private let isStopping = Atomic<Bool>(false)
    private let thread = Guarded<Reactors.Thread?>(nil)

    /// Opens the shop, with the settings of a gateway.
    public init(_ settings: GatewaySettings, log: Log) throws(StartProblem) {
        let parts = try NodeParts(settings)
        do {
            wake = try Wake()
            let started = try Reactors.Thread.start("demo") { [self] in
                guard let reactor = try? Reactor(wake: wake),
                    let runner = try? DemoRunner(reactor: reactor, parts: parts, settings: settings, log: log)
                else { return log.write(.error, "the demo cannot run", []) }
                reactor.onMailbox = { [self] in
                    if isStopping.load(ordering: .acquiring) { reactor.stop() }
                }
                withExtendedLifetime(runner) { reactor.run() }
            }
            thread.withLock { $0 = started }
        } catch {
            throw StartProblem("cannot start the demo: \(error)")
        }
    }

    /// Closes the shop.
    public func stop() {
        isStopping.store(true, ordering: .releasing)
        wake.signal()
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }
}
