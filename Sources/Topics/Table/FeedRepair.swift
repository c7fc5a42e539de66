import Core

/// A repair of a topic: the read that closes the hole, and the events held until then.
struct FeedRepair {
    /// State of the read of the log.
    ///
    /// An answer with the number of another read is ignored.
    enum Read {
        /// To be started by the next sweep after a failure, or when the channel is confirmed.
        case due
        /// The read waits for a free slot.
        case waiting(Int)
        /// The log was asked when so many of the events were held.
        ///
        /// `hasDropped`: a later event was dropped, because too many are held.
        case asked(Int, before: Int, hasDropped: Bool)
    }

    private(set) var read = Read.due
    /// In the order in which they were received.
    private(set) var held: [Delivery] = []

    /// The read's number; `nil` while none is waiting or under way.
    var number: Int? {
        switch read {
        case .due: nil
        case .waiting(let number), .asked(let number, _, _): number
        }
    }

    /// Whether only a new read can continue the repair.
    var isDue: Bool { number == nil }

    /// A repair; the event that revealed the hole is held until it is closed.
    init(holding first: Delivery? = nil) {
        if let first { held.append(first) }
    }

    /// The read waits for a free slot.
    mutating func waits(_ number: Int) {
        read = .waiting(number)
    }

    /// The read starts now: its answer will contain every event received so far.
    mutating func asks(_ number: Int) {
        read = .asked(number, before: held.count, hasDropped: false)
    }

    /// Notes that the read under way started after all events held were received.
    mutating func asksBehindHeld() {
        if case .asked(let number, _, let hasDropped) = read {
            read = .asked(number, before: held.count, hasDropped: hasDropped)
        }
    }

    /// The read has failed.
    mutating func fails() {
        read = .due
    }

    /// Keeps an event; beyond the bound it is dropped, and a further repair fetches it.
    mutating func hold(_ delivery: Delivery, countMax: Int) {
        if held.count < countMax { return held.append(delivery) }
        // A read that has not started yet will contain it.
        if case .asked(let number, let before, _) = read { read = .asked(number, before: before, hasDropped: true) }
    }
}
