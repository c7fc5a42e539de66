/// When the heap's free pages are given back to the system.
///
/// The allocator keeps what ended connections and handshakes leave between the blocks that live on: a node would seem to
/// need for ever what a herd needed once, and its memory bound would turn newcomers away for nothing. Giving back costs
/// milliseconds with the heap locked, so it is done after a surge, not during one. Pure: called once a second.
struct HeapTrim {
    private var peak = 0
    private var handshakes = 0
    private var trimmedAt = 0

    /// Connections that must have ended, or begun, to be worth it.
    private static let surge = 256

    /// Whether to trim now; `open` connections there are, `handshakes` there were in all.
    mutating func isDue(open: Int, handshakes: Int) -> Bool {
        let isQuiet = handshakes - self.handshakes < HeapTrim.surge / 8
        self.handshakes = handshakes
        peak = max(peak, open)
        guard isQuiet else { return false }
        let haveGone = peak - open >= max(HeapTrim.surge, peak / 4)
        guard haveGone || handshakes - trimmedAt >= HeapTrim.surge * 4 else { return false }
        (peak, trimmedAt) = (open, handshakes)
        return true
    }
}
