/// Decides which log lines of a kind are written: so many in a second, and the others are counted.
///
/// Pure. Times are monotonic milliseconds.
public struct LineSampler: Sendable {
    private static let spanMs = 1_000
    private let perSecond: Int
    private var endMs = Int.min
    private var written = 0
    private var leftOut = 0

    /// Writes at most so many lines in a second.
    public init(perSecond: Int) {
        self.perSecond = perSecond
    }

    /// A line is to be written.
    ///
    /// Returns how many lines were left out since the line before, or `nil` when this one is left out.
    public mutating func take(nowMs: Int) -> Int? {
        if nowMs >= endMs { (endMs, written) = (nowMs + LineSampler.spanMs, 0) }
        guard written < perSecond else {
            leftOut += 1
            return nil
        }
        written += 1
        defer { leftOut = 0 }
        return leftOut
    }

    /// How many lines were left out in a second that is over; `nil` when there are none that nobody was told of.
    public mutating func takeLeftOut(nowMs: Int) -> Int? {
        guard leftOut > 0, nowMs >= endMs else { return nil }
        defer { leftOut = 0 }
        return leftOut
    }
}
