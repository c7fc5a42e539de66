/// How often something may happen: a steady rate and what may come at once after a pause.
public struct RateLimit: Sendable, Equatable {
    /// Tokens that flow in per second, 1...100,000,000,000,000.
    public let perSecond: Int
    /// The most tokens that gather, 1...100,000,000,000,000.
    public let burst: Int

    /// The largest of both, far below what makes the arithmetic of a ``TokenBucket`` overflow.
    static let tokensMax = 100_000_000_000_000

    /// Makes a limit; values outside the ranges are taken as the nearest one inside.
    public init(perSecond: Int, burst: Int) {
        self.perSecond = min(max(perSecond, 1), RateLimit.tokensMax)
        self.burst = min(max(burst, 1), RateLimit.tokensMax)
    }
}
