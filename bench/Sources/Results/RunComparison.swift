/// The comparison of two results of one scenario, target and load, before and after.
struct RunComparison {
    enum Verdict: String {
        case same
        case better
        case worse
    }

    /// One figure in both results.
    struct Figures {
        let name: String
        let unit: String
        let before: Double
        let after: Double
        /// Whether a smaller value is better.
        let wantsLess: Bool

        /// The later value as a multiple of the earlier one; `nil` when only the earlier one is 0.
        var ratio: Double? {
            before > 0 ? after / before : after == before ? 1 : nil
        }

        /// The meaning of a change beyond so many percent of the earlier value.
        func verdict(tolerance percent: Double) -> Verdict {
            let change = (wantsLess ? before - after : after - before) * 100
            return change < -percent * abs(before) ? .worse : change > percent * abs(before) ? .better : .same
        }
    }

    let before: BenchResult
    let after: BenchResult

    /// The figures that both results have.
    var figures: [Figures] {
        func pick(
            _ name: String, _ unit: String, scale: Double = 1, wantsLess: Bool = true,
            _ figure: (BenchResult) -> Double?
        ) -> Figures? {
            guard let old = figure(before), let new = figure(after) else { return nil }
            return Figures(name: name, unit: unit, before: old / scale, after: new / scale, wantsLess: wantsLess)
        }
        func ms(_ latency: Int?) -> Double? { latency.map { Double($0) / 1_000 } }
        return [
            pick("CPU per delivery", "µs") { $0.server?.cpuUsPerDelivery },
            pick("CPU per publish", "µs") { $0.delivered == nil ? $0.server?.cpuUsPerPublish : nil },
            pick("latency p50", "ms") { ms($0.latency?.p50Us) },
            pick("latency p99", "ms") { ms($0.latency?.p99Us) },
            pick("deliveries", "1/s", wantsLess: false) { $0.deliveriesPerSecond },
            pick("acknowledged", "1/s", wantsLess: false) { $0.acknowledgedPerSecond },
            pick("highest rate", "1/s", wantsLess: false) { $0.highestRate.map(Double.init) },
            pick("memory per connection", "kB", scale: 1_000) { $0.server?.privateBytesPerConnection.map(Double.init) },
            pick("set-up CPU", "µs") { $0.server?.cpuUsPerConnection },
            pick("handshakes", "1/s", wantsLess: false) { $0.handshakesPerSecond },
        ].compactMap { $0 }
    }

    /// Failures that only the later run has, whatever the tolerance.
    var regressions: [String] {
        var out: [String] = []
        let lost = (before.lost ?? 0, after.lost ?? 0)
        if lost.1 > lost.0 { out.append("LOST \(Figure.whole(lost.1)) deliveries, before \(Figure.whole(lost.0))") }
        if before.passed && !after.passed { out.append("FAILED, had passed") }
        return out
    }

    /// Whether any figure is worse beyond so many percent, or lost.
    func isWorse(tolerance percent: Double) -> Bool {
        !regressions.isEmpty || figures.contains { $0.verdict(tolerance: percent) == .worse }
    }

    /// The comparisons of two files, in the order of the first, and the runs that only one of them has.
    static func match(
        _ before: [BenchResult], _ after: [BenchResult]
    ) -> (both: [RunComparison], onlyBefore: [BenchResult], onlyAfter: [BenchResult]) {
        let (old, new) = (merged(before), merged(after))
        let both = old.compactMap { run in
            new.first { key($0) == key(run) }.map { RunComparison(before: run, after: $0) }
        }
        let keys = (Set(old.map(key)), Set(new.map(key)))
        return (both, old.filter { !keys.1.contains(key($0)) }, new.filter { !keys.0.contains(key($0)) })
    }

    /// Scenario, target and load; the version may differ, since versions are compared.
    private static func key(_ run: BenchResult) -> [String] {
        [run.scenario, run.target, run.name] + run.load.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
    }

    private static func merged(_ runs: [BenchResult]) -> [BenchResult] {
        var order: [[String]] = []
        var all: [[String]: [BenchResult]] = [:]
        for run in runs {
            if all[key(run)] == nil { order.append(key(run)) }
            all[key(run), default: []].append(run)
        }
        return order.compactMap { all[$0].flatMap(BenchResult.merged) }
    }
}
