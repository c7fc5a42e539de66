public import RedisLink

/// The number of outbox entries that this node read last, and whether one waits for too long.
///
/// Pure.
public struct OutboxBook: Sendable {
    /// The figures; `nil` while they are unknown.
    public private(set) var figures: OutboxFigures?
    private let lateMs: Int
    private var isLate = false

    /// An entry is late from an age of `lateMs` on.
    init(lateMs: Int) {
        self.lateMs = lateMs
    }

    /// Takes the figures that Redis returned; `nil`: they are unknown.
    mutating func learned(_ figures: OutboxFigures?) {
        self.figures = figures
        // Without figures the last state remains valid.
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
