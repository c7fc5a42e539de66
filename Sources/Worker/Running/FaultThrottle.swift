import Configuration
import Reactors
import Service

/// Logs faults that a script's author must correct, at most once in ten seconds per script.
///
/// A faulty refresh fails for every id. Thread: the worker's.
final class FaultThrottle {
    private let log: Log
    private let reactor: Reactor
    private var nextMs: [String: Int] = [:]
    private var silenced: [String: Int] = [:]

    init(_ log: Log, _ reactor: Reactor) {
        self.log = log
        self.reactor = reactor
    }

    func write(script: String, fault: String) {
        guard nextMs[script] ?? Int.min <= reactor.nowMs else {
            silenced[script, default: 0] += 1
            return
        }
        nextMs[script] = reactor.nowMs + 10_000
        let more = silenced.removeValue(forKey: script) ?? 0
        log.write(
            .error, "a script failed",
            [("script", script), ("fault", String(fault.prefix(500))), ("notShown", "\(more)")])
    }
}
