/// Microseconds in buckets that grow with the value, each at most 1/32 of it wide: any number of latencies in 16 kB.
///
/// Histograms of several processes or seconds are merged bucket by bucket, which loses nothing; percentiles are taken
/// of the merged one only.
struct LatencyHistogram: Equatable {
    private(set) var count = 0
    private(set) var maxUs = 0
    private var buckets = [Int](repeating: 0, count: LatencyHistogram.bucketCount)

    private static let bucketCount = 64 * 32

    /// Takes a latency; a negative one, of clocks read out of order, counts as 0.
    @inline(__always) mutating func add(_ latencyUs: Int) {
        let value = max(latencyUs, 0)
        count &+= 1
        maxUs = max(maxUs, value)
        buckets[LatencyHistogram.bucket(value)] &+= 1
    }

    /// Adds all latencies of another one.
    mutating func merge(_ other: LatencyHistogram) {
        guard other.count > 0 else { return }
        count += other.count
        maxUs = max(maxUs, other.maxUs)
        for (index, number) in other.buckets.enumerated() where number > 0 { buckets[index] += number }
    }

    /// The value that a share of all latencies, 0 to 1, does not exceed.
    ///
    /// It is rounded up to its bucket's end; `nil` when the histogram is empty.
    func percentile(_ share: Double) -> Int? {
        guard count > 0 else { return nil }
        let wanted = min(Int(Double(count) * share), count - 1)
        var seen = 0
        for (index, number) in buckets.enumerated() {
            seen += number
            if seen > wanted { return min(LatencyHistogram.end(index), maxUs) }
        }
        return maxUs
    }

    /// Removes all latencies.
    mutating func removeAll() {
        guard count > 0 else { return }
        for index in buckets.indices { buckets[index] = 0 }
        (count, maxUs) = (0, 0)
    }

    /// The figures for a report; `nil` when the histogram is empty.
    var figures: LatencyFigures? {
        guard let p50 = percentile(0.5), let p90 = percentile(0.9), let p99 = percentile(0.99),
            let p999 = percentile(0.999)
        else { return nil }
        let pairs = buckets.enumerated().filter { $0.element > 0 }.map {
            [LatencyHistogram.end($0.offset), $0.element]
        }
        return LatencyFigures(
            count: count, p50Us: p50, p90Us: p90, p99Us: p99, p999Us: p999, maxUs: maxUs, buckets: pairs)
    }

    @inline(__always) private static func bucket(_ value: Int) -> Int {
        guard value >= 32 else { return value }
        let shift = Int.bitWidth &- 1 &- value.leadingZeroBitCount &- 5
        return (shift &+ 1) &* 32 &+ (value &>> shift) &- 32
    }

    private static func end(_ bucket: Int) -> Int {
        guard bucket >= 32 else { return bucket }
        let shift = bucket / 32 - 1
        return (bucket % 32 + 33) << shift - 1
    }
}

/// Sparse: the largest value, then pairs of a bucket's number and its count.
extension LatencyHistogram: Codable {
    init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        guard !list.isAtEnd else { return }
        maxUs = try list.decode(Int.self)
        while !list.isAtEnd {
            let (bucket, number) = (try list.decode(Int.self), try list.decode(Int.self))
            guard buckets.indices.contains(bucket), number > 0, maxUs >= 0 else {
                throw DecodingError.dataCorruptedError(in: list, debugDescription: "not a bucket")
            }
            buckets[bucket] += number
            count += number
        }
    }

    func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        guard count > 0 else { return }
        try list.encode(maxUs)
        for (index, number) in buckets.enumerated() where number > 0 {
            try list.encode(index)
            try list.encode(number)
        }
    }
}
