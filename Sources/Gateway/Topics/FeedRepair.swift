import Core

/// A repair of a feed: the read that is to close the hole, and the events that wait behind it.
struct FeedRepair {
    /// How far the read of the log is.
    ///
    /// An answer to a read with another number is too late.
    enum Read {
        /// It is to be asked for: by the next sweep when one has failed, or when the channel is confirmed.
        case due
        /// It waits for its turn.
        case waiting(Int)
        /// The store was asked when so many of the events were held.
        ///
        /// `hasDropped`: an event that came since then was dropped, because too many are held.
        case asked(Int, before: Int, hasDropped: Bool)
    }

    private(set) var read = Read.due
    /// In the order they came.
    private(set) var held: [Delivery] = []

    /// The read's number; `nil` while it is due.
    var number: Int? {
        switch read {
        case .due: nil
        case .waiting(let number), .asked(let number, _, _): number
        }
    }

    /// Whether nothing brings the repair on but another question.
    var isDue: Bool { number == nil }

    /// The hole was found by an event, which waits until it is closed.
    init(holding first: Delivery? = nil) {
        if let first { held.append(first) }
    }

    /// The read waits for its turn.
    mutating func waits(_ number: Int) {
        read = .waiting(number)
    }

    /// The read is asked for now: it will bring all that has come.
    mutating func asks(_ number: Int) {
        read = .asked(number, before: held.count, hasDropped: false)
    }

    /// The read under way was asked for after everything held had come.
    mutating func asksBehindHeld() {
        if case .asked(let number, _, let hasDropped) = read {
            read = .asked(number, before: held.count, hasDropped: hasDropped)
        }
    }

    /// The read has failed.
    mutating func fails() {
        read = .due
    }

    /// Keeps an event; beyond the bound it is dropped, and another repair fetches it after this one.
    mutating func hold(_ delivery: Delivery, countMax: Int) {
        if held.count < countMax { return held.append(delivery) }
        // A read that is still to be asked for will bring it.
        if case .asked(let number, let before, _) = read { read = .asked(number, before: before, hasDropped: true) }
    }
}
