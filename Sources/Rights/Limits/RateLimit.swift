/// How often something may happen: a steady rate and what may come at once after a pause.
public struct RateLimit: Sendable, Equatable {
    /// Tokens that flow in per second, 1...1,000,000,000.
    public let perSecond: Int
    /// The most tokens that gather, 1...1,000,000,000.
    public let burst: Int

    /// Makes a limit; values outside the ranges are taken as the nearest one inside.
    public init(perSecond: Int, burst: Int) {
        self.perSecond = min(max(perSecond, 1), 1_000_000_000)
        self.burst = min(max(burst, 1), 1_000_000_000)
    }
}
