import Commands
import Configuration
import Core
import RedisLink
import Service

/// Gives up calls of outside services that no courier has finished in time, and counts waiting ones.
///
/// Every worker does it: the script gives up each call once. Thread: the worker's.
final class CallsWatch {
    private let parts: WorkerParts
    private let figures: WorkerFigures
    private let services: [String]
    private let everyMs: Int
    private var nextMs = Int.min
    private var known: [String: CallsFigures] = [:]

    init(_ parts: WorkerParts, _ figures: WorkerFigures, everyMs: Int) {
        self.parts = parts
        self.figures = figures
        self.everyMs = everyMs
        services = parts.library.catalogue.services
    }

    /// The waiting calls, by service.
    var calls: [(service: String, figures: CallsFigures)] {
        services.compactMap { service in known[service].map { (service, $0) } }
    }

    /// Checks every service when it is time.
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
                guard let self, case .success(let value) = result else { return }
                took(value, service)
            }
        }
    }

    /// Takes the reply of `expire_calls.lua`; a malformed one is dropped.
    private func took(_ reply: RESPValue, _ service: String) {
        let numbers = (reply.elements ?? []).compactMap(\.integer)
        guard numbers.count == 5, numbers.allSatisfy({ $0 >= 0 }) else { return }
        let (hasCourier, dropped) = (numbers[4] == 1, numbers[2])
        known[service] = CallsFigures(
            waiting: numbers[0], oldestMs: numbers[1], dead: numbers[3], hasCourier: hasCourier)
        guard dropped > 0 else { return }
        figures.callsDropped += dropped
        // More calls may have expired.
        nextMs = Int.min
        parts.log.write(
            .error, "calls of a service outside were given up",
            [
                ("service", service), ("calls", "\(dropped)"), ("courier", hasCourier ? "alive" : "none"),
                ("remedy", "run a courier of the service; what was given up is in #calls-dead:" + service),
            ])
    }
}
