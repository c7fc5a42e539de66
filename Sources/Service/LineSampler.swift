/// Limits the log lines of one kind to a number in each second, and counts the others.
///
/// Pure. Times are monotonic milliseconds.
public struct LineSampler: Sendable {
    private static let spanMs = 1_000
    private let perSecond: Int
    private var endMs = Int.min
    private var written = 0
    private var leftOut = 0

    /// Allows at most `perSecond` lines in a second.
    public init(perSecond: Int) {
        self.perSecond = perSecond
    }

    /// Asks whether to write a line.
    ///
    /// Returns the number of lines left out since the last written one; `nil` when this one is to be left out.
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

    /// The number of lines left out in a second that has passed; `nil` when none of them is still to be reported.
    public mutating func takeLeftOut(nowMs: Int) -> Int? {
        guard leftOut > 0, nowMs >= endMs else { return nil }
        defer { leftOut = 0 }
        return leftOut
    }
}
