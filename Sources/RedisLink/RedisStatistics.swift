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
    /// The time of all replies together, microseconds.
    public let latencyUs = Counter()
    private let latencies = (0...RedisStatistics.boundsUs.count).map { _ in Counter() }
    private let failures = RedisFailure.Kind.allCases.map { _ in Counter() }

    /// Upper bounds of the latency buckets, microseconds.
    public static let boundsUs = [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 500_000, 2_000_000]

    /// Begins with zeroes.
    public init() {}

    func record(latencyUs us: Int) {
        latencyUs.add(us)
        latencies[RedisStatistics.boundsUs.firstIndex { us <= $0 } ?? RedisStatistics.boundsUs.count].add(1)
    }

    func count(_ failure: RedisFailure) {
        if let index = RedisFailure.Kind.allCases.firstIndex(of: failure.kind) { failures[index].add(1) }
    }

    /// Replies by latency; one element more than ``boundsUs``.
    public var histogram: [Int] { latencies.map(\.value) }

    /// Failures by kind, in the order of `RedisFailure.Kind.allCases`.
    public var failuresByKind: [(RedisFailure.Kind, Int)] {
        zip(RedisFailure.Kind.allCases, failures).map { ($0, $1.value) }
    }
}
