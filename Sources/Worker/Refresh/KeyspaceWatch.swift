import Configuration
import Reactors
import RedisLink
import Service

/// Makes Redis report changed keys, or logs what its operator has to do.
///
/// Checked after every connect and at every sweep: another client may change the setting at any time. Without events
/// the worker is late, never wrong. Thread: the worker's.
final class KeyspaceWatch {
    private let link: CallLink
    private let reactor: Reactor
    private let log: Log
    private let maySet: Bool
    private let sweepMs: Int
    private var dueMs = Int.min
    private var isAsking = false
    /// Whether the last check found that every change is reported.
    private(set) var isOn = false
    /// The state that was logged last.
    private var told = ""

    private static let name = Array("notify-keyspace-events".utf8)

    init(link: CallLink, reactor: Reactor, log: Log, setting: KeyspaceEvents, sweepMs: Int) {
        self.link = link
        self.reactor = reactor
        self.log = log
        maySet = setting == .auto
        self.sweepMs = sweepMs
    }

    /// The time of the next check.
    var nextMs: Int { isAsking || !link.isReady ? Int.max : dueMs }

    /// Checks at the next opportunity.
    func connected() {
        isOn = false
        dueMs = Int.min
    }

    /// Checks, when it is time.
    func work(nowMs: Int) {
        guard nextMs <= nowMs else { return }
        isAsking = true
        dueMs = nowMs + sweepMs
        link.call(RedisCall("CONFIG", Array("GET".utf8), KeyspaceWatch.name)) { [weak self] result in
            self?.looked(result)
        }
    }

    private func looked(_ result: Result<RESPValue, RedisFailure>) {
        isAsking = false
        switch result {
        case .success(let reply):
            let current = ServerFacts.config(reply)?[KeyspaceWatch.name] ?? []
            let missing = NotificationFlags.merged(current)
            isOn = missing == nil
            guard let flags = missing else {
                return tell(.info, "keyspace events are on", "")
            }
            guard maySet else { return tell(.warn, "keyspace events are off", "keyspace-events is never", flags) }
            set(flags)
        case .failure(let failure) where failure.kind == .noPermission || failure.kind == .other:
            isOn = false
            tell(.warn, "cannot see whether keyspace events are on", failure.detail, NotificationFlags.needed)
        case .failure:
            // The link logs its own faults.
            break
        }
    }

    private func set(_ flags: [UInt8]) {
        isAsking = true
        link.call(RedisCall("CONFIG", Array("SET".utf8), KeyspaceWatch.name, flags)) { [weak self] result in
            guard let self else { return }
            isAsking = false
            switch result {
            case .success:
                isOn = true
                tell(.info, "keyspace events were switched on", "")
            case .failure(let failure): tell(.warn, "keyspace events are off", failure.detail, flags)
            }
        }
    }

    /// Logs a state once, with the remedy.
    private func tell(_ level: LogLevel, _ message: String, _ reason: String, _ flags: [UInt8]? = nil) {
        guard told != message + reason else { return }
        told = message + reason
        guard let flags else { return log.write(level, message, []) }
        let command = "CONFIG SET notify-keyspace-events " + String(decoding: flags, as: UTF8.self)
        log.write(
            level, message,
            [("reason", reason), ("remedy", command), ("meanwhile", "every id is refreshed every \(sweepMs) ms")])
    }
}
