import Core

/// The read of the log that answers the clients that wait for a topic.
///
/// An answer to a read with another number is too late.
enum JoinRead {
    /// Nobody is asked for.
    case none
    /// It waits for its turn, and will bring what comes meanwhile.
    case waiting(Int)
    /// The store was asked for what follows a position.
    ///
    /// The events that came since then may be missing from its answer.
    case asked(Int, since: Position?, held: [Delivery])

    /// The read's number; `nil` when there is none.
    var number: Int? {
        switch self {
        case .none: nil
        case .waiting(let number), .asked(let number, _, _): number
        }
    }

    /// Keeps an event for those who are asked for; false when there are too many, and it was not kept.
    mutating func hold(_ delivery: Delivery, countMax: Int) -> Bool {
        guard case .asked(let number, let since, var held) = self else { return true }
        guard held.count < countMax else { return false }
        // Without it two would refer to the storage, and each event would copy all before it.
        self = .none
        held.append(delivery)
        self = .asked(number, since: since, held: held)
        return true
    }
}
