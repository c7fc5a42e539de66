/// Durations counted by upper bound.
///
/// Thread: one writes, any reads.
public final class DurationHistogram: Sendable {
    /// Upper bounds of the buckets, microseconds; a further bucket counts all longer durations.
    public let boundsUs: [Int]
    /// All durations together, microseconds.
    public let sumUs = Counter()
    private let buckets: [Counter]

    /// Begins with zeroes.
    public init(boundsUs: [Int]) {
        self.boundsUs = boundsUs
        buckets = (0...boundsUs.count).map { _ in Counter() }
    }

    /// Counts a duration.
    ///
    /// Thread: the one writer's.
    public func record(us: Int) {
        sumUs.add(us)
        buckets[boundsUs.firstIndex { us <= $0 } ?? boundsUs.count].add(1)
    }

    /// Durations by bucket; one element more than ``boundsUs``.
    public var counts: [Int] { buckets.map(\.value) }
}
