import RedisLink

/// How much waits in the outbox as this node heard last, and whether it waits for too long.
///
/// Pure.
struct OutboxBook {
    /// The figures; `nil` while nobody knows them.
    private(set) var figures: OutboxFigures?
    private let lateMs: Int
    private var isLate = false

    /// An entry is too old from `lateMs` on.
    init(lateMs: Int) {
        self.lateMs = lateMs
    }

    /// Takes the figures that Redis gave; `nil`: nobody knows them.
    mutating func learned(_ figures: OutboxFigures?) {
        self.figures = figures
        // Without figures the last state still stands.
        if let figures { isLate = figures.oldestMs >= lateMs }
    }

    /// The state of the row `outbox`.
    var state: RowState {
        guard isLate else { return .fine() }
        return .warned(figures: [
            ("entries", "\(figures?.entries ?? 0)"), ("oldestSeconds", "\((figures?.oldestMs ?? 0) / 1_000)"),
        ])
    }
}
