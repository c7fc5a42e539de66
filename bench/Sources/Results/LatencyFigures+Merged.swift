/// Figures from histograms: those of several runs cover all their latencies together, never means of percentiles.
extension LatencyFigures {
    /// Whether the histogram could have been written by this tool: pairs in order, none negative or empty.
    var isSound: Bool {
        var last = -1
        var sum = 0
        for bucket in buckets {
            guard bucket.count == 2, bucket[0] > last, bucket[1] > 0 else { return false }
            let (total, overflows) = sum.addingReportingOverflow(bucket[1])
            guard !overflows else { return false }
            (last, sum) = (bucket[0], total)
        }
        return sum == count
    }

    /// The figures of all latencies together; `nil` for an empty list.
    static func merged(_ all: [LatencyFigures]) -> LatencyFigures? {
        guard let first = all.first else { return nil }
        guard all.count > 1 else { return first }
        var numbers: [Int: Int] = [:]
        for bucket in all.joined(\.buckets) where bucket.count == 2 { numbers[bucket[0], default: 0] &+= bucket[1] }
        let buckets = numbers.sorted { $0.key < $1.key }.map { [$0.key, $0.value] }
        let count = all.reduce(0) { $0 &+ $1.count }
        let maxUs = all.map(\.maxUs).max() ?? 0
        func percentile(_ share: Double) -> Int {
            let wanted = min(Int(Double(count) * share), count - 1)
            var seen = 0
            for bucket in buckets {
                seen &+= bucket[1]
                if seen > wanted { return min(bucket[0], maxUs) }
            }
            return maxUs
        }
        return LatencyFigures(
            count: count, p50Us: percentile(0.5), p90Us: percentile(0.9), p99Us: percentile(0.99),
            p999Us: percentile(0.999), maxUs: maxUs, buckets: buckets)
    }
}

extension Array {
    /// Joins a member of all elements.
    fileprivate func joined<Part>(_ part: KeyPath<Element, [Part]>) -> [Part] {
        flatMap { $0[keyPath: part] }
    }
}
