/// Makes a server report changed keys, or reports why it does not.
///
/// Checked after every connect and at intervals. Thread: the reactor's.
final class KeyspaceWatch {
    private let calls: any RedisLinks
    private let server: ServerID
    private let flags: KeyspaceFlags
    private let tell: (KeyspaceFlags.State) -> Void
    private var dueMs = Int.min
    private var isAsking = false
    /// Whether the last check found that every wanted event is reported.
    private(set) var isOn = false
    /// The state that was reported last.
    private var told: KeyspaceFlags.State?

    private static let name = Array("notify-keyspace-events".utf8)

    /// `tell` receives each new state.
    init(
        _ calls: any RedisLinks, _ server: ServerID, _ flags: KeyspaceFlags,
        tell: @escaping (KeyspaceFlags.State) -> Void
    ) {
        self.calls = calls
        self.server = server
        self.flags = flags
        self.tell = tell
    }

    private var link: CallLink? { calls.link(to: server).flatMap { $0.isReady ? $0 : nil } }

    /// The time of the next check.
    var nextMs: Int { isAsking || link == nil ? Int.max : dueMs }

    /// Checks at the next opportunity.
    func connected() {
        isOn = false
        dueMs = Int.min
    }

    /// Checks, when it is time.
    func work(nowMs: Int) {
        guard nextMs <= nowMs else { return }
        isAsking = true
        dueMs = nowMs + flags.everyMs
        link?.call(RedisCall("CONFIG", Array("GET".utf8), KeyspaceWatch.name)) { [weak self] in self?.looked($0) }
    }

    private func looked(_ result: Result<RESPValue, RedisFailure>) {
        isAsking = false
        switch result {
        case .success(let reply):
            let present = ServerFacts.config(reply)?[KeyspaceWatch.name] ?? []
            guard let missing = flags.merged(present) else {
                isOn = true
                return report(.on)
            }
            isOn = false
            if flags.maySet { set(missing) } else { report(.off(flags: missing)) }
        case .failure(let failure) where failure.kind == .noPermission || failure.kind == .other:
            isOn = false
            report(.hidden(failure))
        case .failure:
            // The link reports its own faults.
            break
        }
    }

    private func set(_ missing: [UInt8]) {
        guard let link else { return }
        isAsking = true
        link.call(RedisCall("CONFIG", Array("SET".utf8), KeyspaceWatch.name, missing)) { [weak self] result in
            guard let self else { return }
            isAsking = false
            switch result {
            case .success:
                isOn = true
                report(.switchedOn)
            case .failure(let failure): report(.refused(failure, flags: missing))
            }
        }
    }

    private func report(_ state: KeyspaceFlags.State) {
        guard state != told else { return }
        told = state
        tell(state)
    }
}
