/// A token bucket: starts full, gives while it holds, fills at a steady rate.
///
/// Integer arithmetic in thousandths of a token, of which `perSecond` flow in per millisecond: exact, no drift.
/// A clock that stands still or goes back fills nothing and takes nothing.
public struct TokenBucket: Sendable, Equatable {
    /// The rate and the size.
    public let limit: RateLimit
    /// Thousandths of a token held at ``filledAtMs``.
    private var level: Int
    private var filledAtMs: Int

    /// Makes a full bucket; `nowMs` is monotonic time in milliseconds.
    public init(_ limit: RateLimit, nowMs: Int) {
        self.limit = limit
        self.level = limit.burst * 1_000
        self.filledAtMs = nowMs
    }

    /// Takes tokens; false, and takes none, when it holds fewer.
    ///
    /// A count of zero or less takes none.
    public mutating func take(_ count: Int = 1, nowMs: Int) -> Bool {
        let level = levelAt(nowMs)
        filledAtMs = max(filledAtMs, nowMs)
        self.level = level
        guard count <= limit.burst else { return false }
        let cost = max(0, count) * 1_000
        guard cost <= level else { return false }
        self.level = level - cost
        return true
    }

    /// Takes what something has cost, also more than there is: the rest is a debt that later tokens pay.
    ///
    /// The debt is never more than ten bursts, so that one bill does not shut its payer out for long.
    public mutating func charge(_ count: Int, nowMs: Int) {
        let floor = -limit.burst * 10_000
        level = max(floor, levelAt(nowMs) - min(max(0, count), limit.burst * 20) * 1_000)
        filledAtMs = max(filledAtMs, nowMs)
    }

    /// Takes the tokens; otherwise returns the milliseconds until it could, at least 1, and takes none.
    ///
    /// A request that costs more than the bucket holds is granted to a full bucket, and leaves a debt.
    public mutating func pay(_ count: Int, nowMs: Int) -> Int? {
        if let waitMs = waitMs(for: min(max(0, count), limit.burst), nowMs: nowMs), waitMs > 0 { return waitMs }
        charge(count, nowMs: nowMs)
        return nil
    }

    /// Gives tokens back that were taken for nothing; it never holds more than a burst.
    public mutating func giveBack(_ count: Int = 1, nowMs: Int) {
        level = min(levelAt(nowMs) + min(max(0, count), limit.burst * 20) * 1_000, limit.burst * 1_000)
        filledAtMs = max(filledAtMs, nowMs)
    }

    /// Milliseconds until the tokens will be there; 0 when they are, `nil` when the burst can never hold as many.
    public func waitMs(for count: Int = 1, nowMs: Int) -> Int? {
        guard count <= limit.burst else { return nil }
        let missing = max(0, count) * 1_000 - levelAt(nowMs)
        return missing <= 0 ? 0 : (missing + limit.perSecond - 1) / limit.perSecond
    }

    /// Whole tokens it holds.
    public func tokens(nowMs: Int) -> Int {
        levelAt(nowMs) / 1_000
    }

    /// Whether it holds all it can: then it is as good as a new one.
    public func isFull(nowMs: Int) -> Bool {
        levelAt(nowMs) == limit.burst * 1_000
    }

    private func levelAt(_ nowMs: Int) -> Int {
        let full = limit.burst * 1_000
        let (elapsedMs, overflowed) = nowMs.subtractingReportingOverflow(filledAtMs)
        if overflowed { return nowMs > filledAtMs ? full : level }
        guard elapsedMs > 0 else { return level }
        // Compare before multiplying: an hour's pause times a great rate must not overflow.
        guard elapsedMs <= (full - level) / limit.perSecond else { return full }
        return level + elapsedMs * limit.perSecond
    }
}
