@testable import switchboard_bench

/// Results as runs leave them, with figures that tests can reckon with.
enum ResultSamples {
    static let machine = MachineFacts(
        processor: "Example 9000", cores: 2, memoryBytes: 8_000_000_000, kernel: "6.1.0", system: "Debian 12",
        openssl: "OpenSSL 3.0.0")

    /// A latency for each pair of microseconds and how often.
    static func latency(_ buckets: [[Int]]) -> LatencyFigures {
        let count = buckets.reduce(0) { $0 + $1[1] }
        func percentile(_ share: Double) -> Int {
            var seen = 0
            return buckets.first { bucket in
                seen += bucket[1]
                return Double(seen) > Double(count) * share
            }?[0] ?? 0
        }
        return LatencyFigures(
            count: count, p50Us: percentile(0.5), p90Us: percentile(0.9), p99Us: percentile(0.99),
            p999Us: percentile(0.999), maxUs: buckets.last?[0] ?? 0, buckets: buckets)
    }

    static func fanout(_ target: String, rate: Int = 20, cpuUs: Double = 2, lost: Int = 0) -> BenchResult {
        var run = BenchResult(
            scenario: "fanout", target: target,
            settings: ["connections": "1000", "rate": "\(rate)", "url": "wss://127.0.0.1:\(target.count)"],
            passed: lost == 0, seconds: 10)
        run.connections = 1_000
        run.published = rate * 10
        run.expected = rate * 10_000
        run.delivered = rate * 10_000 - lost
        run.lost = lost
        run.deliveriesPerSecond = Double(rate) * 1_000
        run.latency = latency([[1_000, 900], [5_000, 100]])
        run.server = ServerFigures(processes: 1, cores: 0.5, cpuUsPerDelivery: cpuUs)
        run.series = [BenchSecond(second: 1, published: rate, delivered: rate * 1_000, p50Us: 1_000, p99Us: 5_000)]
        return run
    }

    static func report(_ runs: [BenchResult]) -> BenchReport {
        BenchReport(machine: machine, commit: "abc1234", startedAt: "2026-01-02T03:04:05Z", runs: runs)
    }
}
