/// Decides when the heap's free pages are returned to the system.
///
/// The allocator keeps the free memory of ended connections and handshakes between the blocks still in use. A node
/// would seem to need the memory of a past crowd for ever, and its memory bound would refuse newcomers for nothing.
/// Returning it takes milliseconds with the heap locked, so it is done after a surge, not during one. Some memory of a
/// crowd is freed only seconds later, and a second trim returns it. Pure: called once a second.
public struct HeapTrim: Sendable {
    private var peak = 0
    private var handshakes = 0
    private var trimmedAt = 0
    /// Looks until the second trim.
    private var looksLeft = 0

    /// Decrease in connections and topics that makes a trim worthwhile.
    private static let surge = 256
    /// Seconds after which all memory of a crowd has been freed.
    private static let againSeconds = 10

    /// A decision about a process that has just started, with no peak yet.
    public init() {}

    /// Whether to trim now; `held` is the number of connections and topics, `handshakes` the total number so far.
    public mutating func isDue(held: Int, handshakes: Int) -> Bool {
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

    /// Whether the second trim is due.
    private mutating func isAgain() -> Bool {
        guard looksLeft == 1 else { return false }
        looksLeft = 0
        return true
    }
}
