/// When the heap's free pages are given back to the system.
///
/// The allocator keeps what ended connections and handshakes leave between the blocks that live on: a node would seem to
/// need for ever what a herd needed once, and its memory bound would turn newcomers away for nothing. Giving back costs
/// milliseconds with the heap locked, so it is done after a surge, not during one. What went with a crowd is freed up to some
/// seconds after it, and that is given back by another. Pure: called once a second.
struct HeapTrim {
    private var peak = 0
    private var handshakes = 0
    private var trimmedAt = 0
    /// Looks until the heap is trimmed once more.
    private var looksLeft = 0

    /// Connections and topics that must have gone to be worth it.
    private static let surge = 256
    /// Seconds after which what went with a crowd has been freed.
    private static let againSeconds = 10

    /// Whether to trim now; `held` connections and topics there are, `handshakes` there were in all.
    mutating func isDue(held: Int, handshakes: Int) -> Bool {
        let isQuiet = handshakes - self.handshakes < HeapTrim.surge / 8
        self.handshakes = handshakes
        peak = max(peak, held)
        guard isQuiet else { return false }
        looksLeft = max(0, looksLeft - 1)
        let haveGone = peak - held >= max(HeapTrim.surge, peak / 4)
        guard haveGone || handshakes - trimmedAt >= HeapTrim.surge * 4 else { return isAgain() }
        (peak, trimmedAt, looksLeft) = (held, handshakes, HeapTrim.againSeconds)
        return true
    }

    /// Whether this is the last look before ``looksLeft`` ends.
    private mutating func isAgain() -> Bool {
        guard looksLeft == 1 else { return false }
        looksLeft = 0
        return true
    }
}
