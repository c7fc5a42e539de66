/// How far one stream of the outbox was read, which of its entries are in hand, and of which payers more waits there.
///
/// No payer has more than its share in hand. Entries beyond the share are passed over, so those of others behind them are
/// found however many there are. They are read again once half of the share is done. The order of each payer's entries
/// is kept. A value of facts: no I/O.
struct LaneReading {
    /// The next reading.
    enum Step: Equatable {
        /// New entries, behind this one; `nil`: from the start.
        case new(after: StreamID?)
        /// Entries that were passed over, from this one on.
        case again(from: StreamID)
    }

    /// How many parts of entries may be in hand.
    struct Share: Equatable {
        /// Of the stream.
        var stream: Int
        /// Of one payer.
        var payer: Int
    }

    /// An entry that was read.
    struct Seen {
        let id: StreamID
        let payer: [UInt8]
        /// How many things there are to do.
        let parts: Int
    }

    private struct Held {
        let payer: [UInt8]
        /// Parts that are not done.
        var left: Int
    }

    private var inHand: [StreamID: Held] = [:]
    /// Parts in hand by payer.
    private var counts: [[UInt8]: Int] = [:]
    /// The first entry that was passed over, by payer.
    private var passedOver: [[UInt8]: StreamID] = [:]
    /// Payers without room while what was passed over is read: at its beginning, or since.
    private var full: Set<[UInt8]> = []
    /// The last entry that was looked at as new.
    private var newest: StreamID?
    /// Id from which to read the passed-over entries again.
    private var againFrom: StreamID?
    private var isDue = false
    /// Whether more is new than one reading has brought: others may wait behind a flood, so it goes first.
    private var isBehind = false

    /// Whether an answer is awaited.
    private(set) var isReading = false
    /// Parts of entries that are in hand.
    private(set) var parts = 0

    /// Something was put there, or may have been.
    mutating func woken() { isDue = true }

    /// Whether there is something to read.
    func wants(_ share: Share) -> Bool {
        !isReading && parts < share.stream && (isDue || againFrom != nil || firstPassedOver(share) != nil)
    }

    /// Whether nothing is known of the stream that could not be found again.
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
        // With nothing left to do the start is as good a place, and finds what an earlier run left.
        if inHand.isEmpty && passedOver.isEmpty { newest = nil }
        return .new(after: newest)
    }

    /// A reading was answered, with as many entries as were asked for if it `isFull`; returns which of the entries to do,
    /// by their places.
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

    /// A part of an entry was done or given up; returns the entry's payer when it was the last part.
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

    /// The first entry that was passed over of a payer who has room again.
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
