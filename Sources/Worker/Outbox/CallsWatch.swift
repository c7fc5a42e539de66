import Commands
import Configuration
import Core
import RedisLink
import Service

/// Gives up calls of services outside that no courier has finished in time, and counts what waits.
///
/// Every worker does it: the script gives up each call once. Thread: the worker's.
final class CallsWatch {
    /// What is known of a service.
    struct Counts: Equatable {
        /// Calls that wait, those that couriers have claimed among them.
        var waiting = 0
        /// Age of the oldest.
        var oldestMs = 0
        /// Calls given up by this answer.
        var dropped = 0
        /// Calls given up that are kept.
        var dead = 0
        /// 1 while a courier lives.
        var alive = 0

        /// Reads what `expire_calls.lua` returns; `nil` when it is something else.
        init?(_ value: RESPValue) {
            let numbers = (value.elements ?? []).compactMap(\.integer)
            guard numbers.count == 5, numbers.allSatisfy({ $0 >= 0 }) else { return nil }
            (waiting, oldestMs, dropped, dead, alive) = (numbers[0], numbers[1], numbers[2], numbers[3], numbers[4])
        }
    }

    private let parts: WorkerParts
    private let figures: WorkerFigures
    private let services: [String]
    private let everyMs: Int
    private var nextMs = Int.min
    private var known: [String: Counts] = [:]

    init(_ parts: WorkerParts, _ figures: WorkerFigures, everyMs: Int) {
        self.parts = parts
        self.figures = figures
        self.everyMs = everyMs
        services = parts.library.catalogue.services
    }

    /// What is known, by service.
    var counts: [(service: String, counts: Counts)] {
        services.compactMap { service in known[service].map { (service, $0) } }
    }

    /// Looks at every service when it is time.
    func work(_ link: any RedisCalls, nowMs: Int) {
        guard !services.isEmpty, link.isReady, nextMs <= nowMs else { return }
        nextMs = nowMs + everyMs
        for service in services {
            let keys = parts.keys
            let bounds = [parts.limits.worker.callSeconds * 1_000, parts.limits.worker.callsDeadMax]
            let call = ScriptCall(
                script: parts.expireCalls,
                keys: [keys.calls(of: service), keys.callsDead(of: service), keys.courier(of: service)],
                arguments: bounds.map { Array(String($0).utf8) })
            link.run(call, lane: nil) { [weak self] result in
                guard let self, case .success(let value) = result, let counts = Counts(value) else { return }
                took(counts, service)
            }
        }
    }

    private func took(_ counts: Counts, _ service: String) {
        known[service] = counts
        guard counts.dropped > 0 else { return }
        figures.callsDropped += counts.dropped
        // There may be more of them.
        nextMs = Int.min
        parts.log.write(
            .error, "calls of a service outside were given up",
            [
                ("service", service), ("calls", "\(counts.dropped)"), ("courier", counts.alive == 1 ? "alive" : "none"),
                ("remedy", "run a courier of the service; what was given up is in #calls-dead:" + service),
            ])
    }
}
