import Core

/// The read of the log that answers the clients that join a topic.
///
/// An answer with the number of another read is ignored.
enum JoinRead {
    /// No read.
    case none
    /// The read waits for a free slot; it will contain the events received meanwhile.
    case waiting(Int)
    /// The log was asked for the events after a position.
    ///
    /// Events received since then may be missing from its answer, and are held.
    case asked(Int, since: Position?, held: [Delivery])

    /// The read's number; `nil` when there is none.
    var number: Int? {
        switch self {
        case .none: nil
        case .waiting(let number), .asked(let number, _, _): number
        }
    }

    /// Keeps an event for the clients that the read serves; false when too many are held, and it was not kept.
    mutating func hold(_ delivery: Delivery, countMax: Int) -> Bool {
        guard case .asked(let number, let since, var held) = self else { return true }
        guard held.count < countMax else { return false }
        // Avoids a second reference to the storage: each event would copy all held before it.
        self = .none
        held.append(delivery)
        self = .asked(number, since: since, held: held)
        return true
    }
}
