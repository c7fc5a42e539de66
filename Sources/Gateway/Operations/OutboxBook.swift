import RedisLink

/// How much waits in the outbox as this node heard last, and whether it waits for too long.
///
/// Pure.
struct OutboxBook {
    /// A change that is to be logged.
    enum News: Equatable {
        /// The oldest entry is too old.
        case late(OutboxFigures)
        /// It is no longer.
        case inTime
    }

    /// The figures; `nil` while nobody knows them.
    private(set) var figures: OutboxFigures?
    private let lateMs: Int
    private var lateSinceMs: Int?

    /// An entry is too old from `lateMs` on.
    init(lateMs: Int) {
        self.lateMs = lateMs
    }

    /// Takes what was heard at `wallMs`, milliseconds since 1970; `nil`: nobody knows.
    ///
    /// A change is to be logged.
    mutating func learned(_ figures: OutboxFigures?, wallMs: Int) -> News? {
        self.figures = figures
        // Without figures what was said last still stands.
        guard let figures else { return nil }
        let isLate = figures.oldestMs >= lateMs
        guard isLate != (lateSinceMs != nil) else { return nil }
        lateSinceMs = isLate ? wallMs : nil
        return isLate ? .late(figures) : .inTime
    }

    /// The warning for `/readyz`.
    var warning: Warning? {
        lateSinceMs.map { Warning(name: .outbox, sinceMs: $0, mend: OutboxBook.mend) }
    }

    /// The operator's mend.
    static let mend = "start a worker, or see in its log why entries of the outbox are not done"
}
