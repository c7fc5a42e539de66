import Configuration
import RedisLink
import Service

/// Logs whether a server reports changed keys, and the remedy where it does not.
///
/// Without events the worker is late, never wrong.
enum KeyspaceLog {
    /// Writes one line for a new state; `sweepMs` is the time in which every id is refreshed without events.
    static func write(_ state: KeyspaceFlags.State, sweepMs: Int, _ log: Log) {
        switch state {
        case .on: log.write(.info, "keyspace events are on", [])
        case .switchedOn: log.write(.info, "keyspace events were switched on", [])
        case .off(let flags): warn("keyspace events are off", "keyspace-events is never", flags, sweepMs, log)
        case .refused(let failure, let flags): warn("keyspace events are off", failure.detail, flags, sweepMs, log)
        case .hidden(let failure):
            let message = "cannot see whether keyspace events are on"
            warn(message, failure.detail, RefreshScheduler.flags, sweepMs, log)
        }
    }

    private static func warn(_ message: String, _ reason: String, _ flags: [UInt8], _ sweepMs: Int, _ log: Log) {
        let command = "CONFIG SET notify-keyspace-events " + String(decoding: flags, as: UTF8.self)
        log.write(
            .warn, message,
            [("reason", reason), ("remedy", command), ("meanwhile", "every id is refreshed every \(sweepMs) ms")])
    }
}
