import RedisLink

/// The figures of the outbox over all slots.
///
/// A slot whose master does not answer counts as it did before: its entries wait, and get older. A value of facts: no
/// I/O; times are monotonic milliseconds.
struct OutboxSum {
    private var known: [Int: (figures: OutboxFigures, ms: Int)] = [:]

    /// Takes the figures of a slot.
    mutating func take(_ figures: OutboxFigures, of slot: Int, nowMs: Int) {
        known[slot] = (figures, nowMs)
    }

    /// The sum over some slots; all others are forgotten.
    mutating func sum(of slots: Set<Int>, nowMs: Int) -> OutboxFigures {
        known = known.filter { slots.contains($0.key) }
        return known.values.reduce(OutboxFigures(entries: 0, oldestMs: 0)) { sum, one in
            let waitedMs = one.figures.entries > 0 ? max(nowMs - one.ms, 0) : 0
            return sum + OutboxFigures(entries: one.figures.entries, oldestMs: one.figures.oldestMs + waitedMs)
        }
    }
}
