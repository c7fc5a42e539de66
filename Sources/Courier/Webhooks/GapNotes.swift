/// Decides which gaps get a line in the log: at most one line in a second, with the number of gaps without one; pure.
///
/// After the end of all epochs each topic has a gap. Times are monotonic milliseconds.
struct GapNotes {
    private static let pauseMs = 1_000
    private var nextMs = 0
    private var leftOut = 0

    /// A receiver accepted a gap.
    ///
    /// Returns how many gaps had no line since the last line, or `nil` when this one gets none.
    mutating func took(nowMs: Int) -> Int? {
        guard nowMs >= nextMs else {
            leftOut += 1
            return nil
        }
        nextMs = nowMs + GapNotes.pauseMs
        defer { leftOut = 0 }
        return leftOut
    }
}
