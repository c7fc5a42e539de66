/// The reading state of one outbox stream: its position, the entries in hand, and the payers whose entries were
/// skipped.
///
/// No payer has more than its share in hand. Entries beyond the share are skipped, so that entries of other payers
/// after them are found. Skipped entries are read again once half of the share is done. The order of each payer's
/// entries is kept. A value of facts: no I/O.
struct LaneReading {
    /// The next reading.
    enum Step: Equatable {
        /// New entries, after this one; `nil`: from the start.
        case new(after: StreamID?)
        /// Entries that were skipped, from this one on.
        case again(from: StreamID)
    }

    /// The most parts of entries that may be in hand.
    struct Share: Equatable {
        /// Parts of the stream.
        var stream: Int
        /// Parts of one payer.
        var payer: Int
    }

    /// An entry that was read.
    struct Seen {
        let id: StreamID
        let payer: [UInt8]
        /// The number of parts of the entry.
        let parts: Int
    }

    private struct Held {
        let payer: [UInt8]
        /// The number of parts that are not done.
        var left: Int
    }

    private var inHand: [StreamID: Held] = [:]
    /// Parts in hand by payer.
    private var counts: [[UInt8]: Int] = [:]
    /// The first skipped entry of each payer.
    private var passedOver: [[UInt8]: StreamID] = [:]
    /// Payers without room while skipped entries are read: at the start of that reading, or since.
    private var full: Set<[UInt8]> = []
    /// The last entry that was read as new.
    private var newest: StreamID?
    /// The id from which to read skipped entries again.
    private var againFrom: StreamID?
    private var isDue = false
    /// Whether more entries are new than one reading returned; they are read first, since others may wait behind a
    /// flood.
    private var isBehind = false

    /// Whether a reading is pending.
    private(set) var isReading = false
    /// Parts of entries that are in hand.
    private(set) var parts = 0

    /// An entry was added, or may have been.
    mutating func woken() { isDue = true }

    /// Whether there is something to read.
    func wants(_ share: Share) -> Bool {
        !isReading && parts < share.stream && (isDue || againFrom != nil || firstPassedOver(share) != nil)
    }

    /// Whether all that is known of the stream could be found again by reading it.
    var isIdle: Bool { !isReading && !isDue && inHand.isEmpty && passedOver.isEmpty }

    /// The next reading; `nil` when there is nothing to read.
    mutating func next(_ share: Share) -> Step? {
        guard wants(share) else { return nil }
        isReading = true
        if isDue && isBehind && againFrom == nil { return readingNew() }
        if let from = againFrom { return .again(from: from) }
        if let from = firstPassedOver(share) {
            againFrom = from
            full = Set(passedOver.keys.filter { !hasRoom($0, share) })
            return .again(from: from)
        }
        return readingNew()
    }

    private mutating func readingNew() -> Step {
        isDue = false
        // With nothing left to do the reading restarts, and finds entries that an earlier run left.
        if inHand.isEmpty && passedOver.isEmpty { newest = nil }
        return .new(after: newest)
    }

    /// Takes the answer to a reading; returns the indices of the entries to do.
    ///
    /// `isFull`: it has as many entries as were requested.
    mutating func read(_ entries: [Seen], isFull: Bool, _ share: Share) -> [Int] {
        isReading = false
        guard againFrom == nil else { return readAgain(entries, share) }
        isBehind = isFull
        return readNew(entries, share)
    }

    /// A reading failed.
    mutating func readFailed() {
        (isReading, isDue) = (false, true)
    }

    /// A part of an entry was done or given up; returns the entry's payer after its last part.
    mutating func finished(_ id: StreamID) -> [UInt8]? {
        guard var held = inHand[id] else { return nil }
        parts -= 1
        counts[held.payer] = (counts[held.payer] ?? 1) - 1
        if counts[held.payer] == 0 { counts[held.payer] = nil }
        held.left -= 1
        guard held.left == 0 else {
            inHand[id] = held
            return nil
        }
        inHand[id] = nil
        return held.payer
    }

    /// The first skipped entry of a payer that has room again.
    private func firstPassedOver(_ share: Share) -> StreamID? {
        passedOver.lazy.filter { hasRoom($0.key, share) }.map(\.value).min()
    }

    private func hasRoom(_ payer: [UInt8], _ share: Share) -> Bool { (counts[payer] ?? 0) <= share.payer / 2 }

    private mutating func readNew(_ entries: [Seen], _ share: Share) -> [Int] {
        guard !entries.isEmpty else { return [] }
        isDue = true
        var taken: [Int] = []
        for (index, entry) in entries.enumerated() {
            guard parts < share.stream else { break }
            newest = entry.id
            guard inHand[entry.id] == nil, passedOver[entry.payer] == nil else { continue }
            guard counts[entry.payer] ?? 0 < share.payer else {
                passedOver[entry.payer] = entry.id
                continue
            }
            take(entry)
            taken.append(index)
        }
        return taken
    }

    private mutating func readAgain(_ entries: [Seen], _ share: Share) -> [Int] {
        var taken: [Int] = []
        var isOver = entries.isEmpty
        for (index, entry) in entries.enumerated() {
            guard parts < share.stream else { return taken }
            guard let newest, entry.id <= newest else {
                isOver = true
                break
            }
            againFrom = entry.id.next
            guard inHand[entry.id] == nil, !full.contains(entry.payer), let first = passedOver[entry.payer],
                entry.id >= first
            else { continue }
            guard counts[entry.payer] ?? 0 < share.payer else {
                passedOver[entry.payer] = entry.id
                full.insert(entry.payer)
                continue
            }
            take(entry)
            taken.append(index)
            passedOver[entry.payer] = entry.id.next
        }
        if isOver {
            for payer in passedOver.keys where !full.contains(payer) { passedOver[payer] = nil }
        }
        if isOver || passedOver.keys.allSatisfy({ full.contains($0) }) {
            againFrom = nil
            full = []
        }
        return taken
    }

    private mutating func take(_ entry: Seen) {
        let parts = max(entry.parts, 1)
        inHand[entry.id] = Held(payer: entry.payer, left: parts)
        counts[entry.payer, default: 0] += parts
        self.parts += parts
    }
}
