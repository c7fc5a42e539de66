/// Searches for the highest rate of a fan-out that keeps its p99 and loses nothing.
struct CapacityScenario: BenchScenario {
    private let options: BenchOptions

    init(_ options: BenchOptions) {
        self.options = options
    }

    /// Passed when some rate passed; the result is the load at the highest one.
    func run(_ run: Coordinator) throws(BenchFailure) -> BenchResult {
        try run.startClients(.listen)
        let opening = try run.openClients()
        guard opening.live == options.connections else {
            throw BenchFailure("\(opening.live) of \(options.connections) clients were live")
        }
        // Last, since servers close idle connections.
        try run.startPublisher()
        var search = RateSearch(from: options.rate)
        var best: Coordinator.Outcome?
        var steps: [String] = []
        while let rate = search.next, rate <= CapacityScenario.rateMax {
            let outcome = try run.load(rate: rate, seconds: options.seconds)
            let p99Us = outcome.figures.latency.percentile(0.99) ?? Int.max
            let held = outcome.isWhole && outcome.live == options.connections && p99Us <= options.p99Ms * 1_000
            steps.append("\(rate)/s \(held ? "held" : "did not hold"): p99 \(p99Us) us, lost \(outcome.lost)")
            BenchFailure.say(steps[steps.count - 1])
            if held { best = outcome }
            search.told(held: held)
            guard outcome.live == options.connections else { break }
            // The backlog of an overloaded server would count against the next step.
            try run.turn(seconds: held ? 0.5 : 2)
        }
        guard let best else {
            var result = run.result(0)
            result.notes += steps
            return result
        }
        var result = run.result(best)
        result.highestRate = best.plan.rate
        result.add(opening)
        result.notes += steps
        return result
    }

    private static let rateMax = 1_000_000
}

/// The search: doubles a rate while it passes, or halves it until it does, then bisects down to 5 %.
struct RateSearch {
    /// The rate to try; `nil` when the search is over.
    private(set) var next: Int?
    private(set) var highest = 0
    private var failed: Int?

    init(from rate: Int) {
        next = max(rate, 1)
    }

    /// Takes whether the rate of ``next`` passed.
    mutating func told(held: Bool) {
        guard let rate = next else { return }
        if held { highest = max(highest, rate) } else { failed = min(failed ?? rate, rate) }
        guard let failed else { return next = rate * 2 }
        if highest == 0 {
            next = failed > 1 ? failed / 2 : nil
        } else {
            let middle = (highest + failed) / 2
            next = (failed - highest) * 20 > failed && middle > highest ? middle : nil
        }
    }
}
