public import Reactors
public import Service

/// Readiness of a node: it depends on proven delivery, not on an assumption.
///
/// It holds the readiness table. A watch reports the state of its row by ``set(_:_:)``. Thread: any.
public final class Health: Sendable {
    private struct State {
        /// Threads that could not start; never removed.
        var failed: [Condition] = []
        /// The reasons for which delivery is not proven, by part; empty when it is.
        var delivery = [Condition(.node, .starting)]
        /// When the link with the oldest proof was proven, monotonic milliseconds.
        var provenMs: Int?
        var table = ReadinessTable()
    }

    private let state: Guarded<State>
    /// Whether part of a cluster is enough (`--ready-partial`).
    private let isPartialEnough: Bool
    private let log: Log?
    /// File descriptors that the process had open at the last look, less than two seconds ago.
    public let descriptorsOpen = Counter()

    /// A table in which nothing is proven yet; each change of a row is logged to `log`, if any.
    public init(isPartialEnough: Bool = false, log: Log? = nil) {
        self.isPartialEnough = isPartialEnough
        self.log = log
        var first = State()
        _ = first.table.set(.redis, .red(NotReadyReason.starting.label), wallMs: Clock.wallMs())
        state = Guarded(first)
    }

    /// Takes the state of a row, and logs a change.
    public func set(_ row: ReadinessRow, _ state: RowState) {
        write(self.state.withLock { $0.table.set(row, state, wallMs: Clock.wallMs()) })
    }

    private func write(_ line: LogEntry?) {
        if let line { log?.write(line) }
    }

    /// Takes the bus's knowledge of delivery.
    ///
    /// That is the unproven parts, when the link with the oldest proof was proven, and whether the proven parts may be
    /// used alone.
    public func delivery(_ conditions: [Condition], provenMs: Int?, isPartlyProven: Bool = false) {
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
        write(line)
    }

    /// A thread could not start.
    public func failed(_ part: Condition.Part, _ reason: NotReadyReason) {
        let line = state.withLock { state in
            state.failed.append(Condition(part, reason))
            return state.table.set(.threads, .red(reason.label), wallMs: Clock.wallMs())
        }
        write(line)
    }

    /// Numbers of the shards that could not start.
    public var failedShards: [Int] {
        state.withLock { state in
            state.failed.compactMap { if case .shard(let index) = $0.part { index } else { nil } }
        }
    }

    /// Marks the node as draining: it accepts no more clients.
    public func drain() { set(.draining, .red()) }

    /// Whether ``drain()`` was called; a drain never ends.
    public var isDraining: Bool { state.withLock { $0.table[.draining]?.isFine == false } }

    /// All conditions that are not met, most important first; empty when the node is ready.
    public var conditions: [Condition] {
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
    public var isReady: Bool { state.withLock { $0.table.red.isEmpty } }

    /// Whether events arrive by all links, or by enough of them.
    public var isDeliveryProven: Bool { state.withLock { $0.table[.redis]?.state.severity != .red } }

    /// `nil` when the node is ready; otherwise the first reason why it is not.
    public var notReadyBecause: String? { isReady ? nil : conditions.first?.reason.label }

    /// The status text of `/readyz`.
    public var status: String {
        guard isReady else { return "not ready" }
        return isPartlyReady ? "partly ready" : "ready"
    }

    /// The current rows.
    public var rows: [ReadinessTable.Entry] { state.withLock { $0.table.entries } }

    /// Whether the node serves a part of a cluster, as `--ready-partial` allows.
    public var isPartlyReady: Bool {
        state.withLock { $0.table[.redis]?.state.severity == .warned }
    }

    /// The names of the rows that are red.
    public var reasons: [ReadinessRow] { state.withLock { $0.table.red } }

    /// The faults that all nodes share.
    public var warnings: [ReadinessTable.Entry] { state.withLock { $0.table.warned } }

    /// Milliseconds since the link with the oldest proof was proven; `nil` while one never was.
    public func probeAgeMs(nowMs: Int) -> Int? {
        state.withLock { state in state.provenMs.map { max(nowMs - $0, 0) } }
    }
}
