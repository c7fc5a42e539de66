/// The steps against a client that exceeds its rate: a warning, delayed reads, refusals, and in the end a close.
///
/// Pure: time is a parameter, monotonic milliseconds. Each step gives a client that mends its ways the chance to lose
/// nothing. A burst of twice the rate is nobody's fault and passes; when little of it is left the client is warned. An
/// empty bucket stops the reading, so that TCP holds the client back and every message is still served. Only what had
/// been read already when the bucket ran dry is refused, and a long row of refusals ends the connection.
public struct RateLadder: Sendable, Equatable {
    /// The treatment of one message.
    public enum Step: Sendable, Equatable {
        /// Serve it.
        case serve
        /// Serve it and warn the client that it is close to the limit.
        case serveAndWarn
        /// Refuse it; the same may be sent again after so many milliseconds.
        case refuse(retryAfterMs: Int)
    }

    private var bucket: TokenBucket
    private let refusalsMax: Int
    private var refusals = 0
    private var mayWarnAtMs = Int.min

    /// A client is warned once in so many milliseconds.
    public static var warningIntervalMs: Int { 10_000 }

    /// A full allowance; a row of more than `refusalsMax` refusals ends the connection.
    public init(_ limit: RateLimit, refusalsMax: Int, nowMs: Int) {
        bucket = TokenBucket(limit, nowMs: nowMs)
        self.refusalsMax = refusalsMax
    }

    /// Counts a message and says what to do with it.
    public mutating func take(nowMs: Int) -> Step {
        guard bucket.take(nowMs: nowMs) else { return .refuse(retryAfterMs: max(bucket.waitMs(nowMs: nowMs) ?? 1, 1)) }
        // A fifth of the burst: soon enough to slow down, too late to be a habit of the well-behaved.
        guard bucket.tokens(nowMs: nowMs) * 5 <= bucket.limit.burst, nowMs >= mayWarnAtMs else { return .serve }
        mayWarnAtMs = nowMs &+ RateLadder.warningIntervalMs
        return .serveAndWarn
    }

    /// Milliseconds for which the client is not to be read; 0 when it may be.
    ///
    /// An empty bucket first gathers a tenth of a second's worth, so that one loop does not wake for every message.
    public func delayMs(nowMs: Int) -> Int {
        guard bucket.tokens(nowMs: nowMs) < 1 else { return 0 }
        return bucket.waitMs(for: min(max(1, bucket.limit.perSecond / 10), bucket.limit.burst), nowMs: nowMs) ?? 0
    }

    /// Counts a refusal, for its rate or anything else; true when the row is too long and the client is to be closed.
    public mutating func refused() -> Bool {
        refusals += 1
        return refusals > refusalsMax
    }

    /// The client got what it asked for: the row of refusals ends.
    public mutating func granted() {
        refusals = 0
    }
}
