import Reactors
import Service

/// Whether this node may be sent clients: earned by delivery, not assumed (design section 8).
///
/// It holds the table of readiness. A watch reports the state of its row by ``set(_:_:)``. Thread: any.
final class Health: Sendable {
    private struct State {
        /// Threads that could not start; for good.
        var failed: [Condition] = []
        /// Why delivery is not proven, by part; empty when it is.
        var delivery = [Condition(.node, .starting)]
        /// When the link that waits longest was proven.
        var provenMs: Int?
        var table = ReadinessTable()
    }

    private let state: Guarded<State>
    /// Whether a part is enough (`--ready-partial`).
    private let isPartialEnough: Bool
    private let log: Log?

    /// `log` gets a line at each change of a row; `nil` for none.
    init(isPartialEnough: Bool = false, log: Log? = nil) {
        self.isPartialEnough = isPartialEnough
        self.log = log
        var first = State()
        _ = first.table.set(.redis, .red(NotReadyReason.starting.label), wallMs: Clock.wallMs())
        state = Guarded(first)
    }

    /// Takes the state of a row, and logs a change.
    func set(_ row: ReadinessRow, _ state: RowState) {
        tell(self.state.withLock { $0.table.set(row, state, wallMs: Clock.wallMs()) })
    }

    private func tell(_ line: ReadinessTable.Message?) {
        guard let line else { return }
        log?.write(line.level, line.text, line.figures.map { ($0.name, $0.value) })
    }

    /// What the broker knows of delivery: which parts are not proven, when the one that waits longest was, and whether
    /// those that are proven may be used alone.
    func delivery(_ conditions: [Condition], provenMs: Int?, isPartlyProven: Bool = false) {
        let cause = conditions.first?.reason.label ?? ""
        let row: RowState =
            if conditions.isEmpty { .fine() } else if isPartialEnough && isPartlyProven { .warned(cause) } else {
                .red(cause)
            }
        let line = state.withLock { state in
            state.delivery = conditions
            state.provenMs = provenMs
            return state.table.set(.redis, row, wallMs: Clock.wallMs())
        }
        tell(line)
    }

    /// A thread could not start.
    func failed(_ part: Condition.Part, _ reason: NotReadyReason) {
        let line = state.withLock { state in
            state.failed.append(Condition(part, reason))
            return state.table.set(.threads, .red(reason.label), wallMs: Clock.wallMs())
        }
        tell(line)
    }

    /// Numbers of the shards that could not start.
    var failedShards: [Int] {
        state.withLock { state in
            state.failed.compactMap { if case .shard(let index) = $0.part { index } else { nil } }
        }
    }

    /// The node takes no more clients.
    func drain() { set(.draining, .red()) }

    var isDraining: Bool { state.withLock { $0.table[.draining]?.isFine == false } }

    /// All that is wrong, what matters most first; empty when nothing is.
    var conditions: [Condition] {
        state.withLock { state in
            var conditions: [Condition] = []
            if state.table.red.contains(.draining) { conditions.append(Condition(.node, .draining)) }
            conditions += state.failed
            conditions += state.delivery
            for row in state.table.red where ![.draining, .threads, .redis].contains(row) {
                conditions.append(Condition(.node, .row(row)))
            }
            return conditions
        }
    }

    /// Whether the node may be sent clients: no row is red.
    var isReady: Bool { state.withLock { $0.table.red.isEmpty } }

    /// Whether events arrive by all links, or by as many as are enough.
    var isDeliveryProven: Bool { state.withLock { $0.table[.redis]?.state.severity != .red } }

    /// `nil` when the node is ready; otherwise the first reason why it is not.
    var notReadyBecause: String? { isReady ? nil : conditions.first?.reason.label }

    /// The word of `/readyz`.
    var status: String {
        guard isReady else { return "not ready" }
        return isPartlyReady ? "partly ready" : "ready"
    }

    /// Every row of now.
    var rows: [ReadinessTable.Entry] { state.withLock { $0.table.entries } }

    /// Whether the node serves a part of a cluster, and is to (`--ready-partial`).
    var isPartlyReady: Bool {
        state.withLock { $0.table[.redis]?.state.severity == .warned }
    }

    /// The names of the rows that are red.
    var reasons: [ReadinessRow] { state.withLock { $0.table.red } }

    /// The faults that every node has alike.
    var warnings: [ReadinessTable.Entry] { state.withLock { $0.table.warned } }

    /// Milliseconds since the link that waits longest was proven; `nil` while one never was.
    func probeAgeMs(nowMs: Int) -> Int? {
        state.withLock { state in state.provenMs.map { max(nowMs - $0, 0) } }
    }
}
