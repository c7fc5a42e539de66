public import Core
import Reactors
import Rights

/// The secret of all nodes and the rate of questions, which the shards of a node share.
///
/// Locked for a question, never for a delivered message. Thread: any.
public final class FleetAccess: Sendable {
    private let secretKnown = Guarded<[UInt8]?>(nil)
    private let asked: Guarded<TokenBucket>
    private let taken: Guarded<TokenBucket>
    private let rate: RateLimit

    /// Full allowances of `fleetQuestionsPerSecond`.
    public init(_ limits: Limits, nowMs: Int) {
        rate = RateLimit(perSecond: limits.fleetQuestionsPerSecond, burst: limits.fleetQuestionsPerSecond * 4)
        asked = Guarded(TokenBucket(rate, nowMs: nowMs))
        taken = Guarded(TokenBucket(rate, nowMs: nowMs))
    }

    /// Takes the secret of all nodes.
    public func use(_ secret: [UInt8]) {
        secretKnown.withLock { $0 = secret }
    }

    /// The secret; `nil` while it is not known, and no other node can be asked.
    var secret: [UInt8]? { secretKnown.withLock { $0 } }

    /// Counts a question of a caller; returns the milliseconds until the next is allowed.
    ///
    /// `nil` when it was counted.
    func waitToAsk(nowMs: Int) -> Int? {
        asked.withLock { $0.take(of: rate, nowMs: nowMs) ? nil : max(1, $0.waitMs(of: rate, nowMs: nowMs) ?? 1_000) }
    }

    /// Counts a question of another node; false when there are too many.
    func mayTake(nowMs: Int) -> Bool { taken.withLock { $0.take(of: rate, nowMs: nowMs) } }
}
