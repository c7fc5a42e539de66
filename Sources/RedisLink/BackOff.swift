/// Pauses between attempts to connect: exponential with full jitter, so that many gateways do not reconnect at once
/// (failure catalogue R15).
///
/// The n-th pause is uniform between the minimum and the minimum doubled n times, cut at the maximum.
public struct BackOff: Equatable, Sendable {
    private let minMs: Int
    private let maxMs: Int
    private var ceilingMs: Int

    /// Makes a back-off between two bounds in milliseconds; a maximum below the minimum is raised to it.
    public init(minMs: Int, maxMs: Int) {
        self.minMs = max(1, minMs)
        self.maxMs = max(self.minMs, maxMs)
        ceilingMs = self.minMs
    }

    /// The pause before the next attempt, milliseconds.
    public mutating func next(using random: inout some RandomNumberGenerator) -> Int {
        ceilingMs = ceilingMs > maxMs / 2 ? maxMs : ceilingMs * 2
        return Int.random(in: minMs...ceilingMs, using: &random)
    }

    /// Starts again from the minimum; called when a connection has proven itself, not when it merely opened.
    public mutating func succeeded() {
        ceilingMs = minMs
    }
}
