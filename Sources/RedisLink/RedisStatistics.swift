public import Reactors

/// The figures of one link.
///
/// Thread: written by the link's, readable by any.
public final class RedisStatistics: Sendable {
    /// Calls sent.
    public let sent = Counter()
    /// Calls refused because too many were in flight.
    public let rejected = Counter()
    /// Replies that arrived after their call's deadline and were dropped.
    public let late = Counter()
    /// Connections that became ready.
    public let connects = Counter()
    /// The time from each call to its reply.
    public let latencies = DurationHistogram(
        boundsUs: [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 500_000, 2_000_000])
    private let failures = RedisFailure.Kind.allCases.map { _ in Counter() }

    /// Begins with zeroes.
    public init() {}

    func count(_ failure: RedisFailure) {
        if let index = RedisFailure.Kind.allCases.firstIndex(of: failure.kind) { failures[index].add(1) }
    }

    /// Failures by kind, in the order of `RedisFailure.Kind.allCases`.
    public var failuresByKind: [(RedisFailure.Kind, Int)] {
        zip(RedisFailure.Kind.allCases, failures).map { ($0, $1.value) }
    }
}
