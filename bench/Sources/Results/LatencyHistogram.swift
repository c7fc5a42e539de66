/// Microseconds in buckets that grow with the value, each at most 1/32 wide of it: any number of latencies in 16 kB.
struct LatencyHistogram {
    private(set) var count = 0
    private(set) var maxUs = 0
    private var buckets = [Int](repeating: 0, count: 64 * 32)

    /// Takes a latency; one below 0, of clocks read out of order, counts as 0.
    mutating func add(_ latencyUs: Int) {
        let value = max(latencyUs, 0)
        count += 1
        maxUs = max(maxUs, value)
        buckets[LatencyHistogram.bucket(value)] += 1
    }

    /// The value that so much of all, 0 to 1, does not exceed (rounded up to its bucket's end); `nil` of nothing.
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

    /// Forgets everything.
    mutating func removeAll() {
        self = LatencyHistogram()
    }

    private static func bucket(_ value: Int) -> Int {
        guard value >= 32 else { return value }
        let shift = Int.bitWidth - 1 - value.leadingZeroBitCount - 5
        return (shift + 1) * 32 + (value >> shift) - 32
    }

    private static func end(_ bucket: Int) -> Int {
        guard bucket >= 32 else { return bucket }
        let shift = bucket / 32 - 1
        return (bucket % 32 + 33) << shift - 1
    }
}
