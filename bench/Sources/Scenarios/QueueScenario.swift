/// Measures a booking's change until the subscribers have a `queue:update` that shows it.
///
/// The way is Redis, keyspace event, worker, gateway, TLS. Changes are made by command over HTTP and directly in Redis,
/// in turn, one under way for each of `--topics` shops. A worker must run (bench/queue.sh starts it).
struct QueueScenario: BenchScenario {
    private let options: BenchOptions

    init(_ options: BenchOptions) {
        self.options = options
    }

    /// Passed when every subscriber has received every change.
    func run(_ run: Coordinator) throws(BenchFailure) -> BenchResult {
        try run.startClients(.queue)
        let opening = try run.openClients(seconds: 60)
        guard opening.live == options.connections else {
            throw BenchFailure(
                "\(opening.live) of \(options.connections) clients were live: \(run.notes.joined(separator: "; "))")
        }
        guard run.said.filter({ $0 == QueueBehaviour.ready }).count == options.processes else {
            throw BenchFailure("the shops could not be made: \(run.notes.joined(separator: "; "))")
        }
        let outcome = try run.load(rate: options.rate, seconds: options.seconds)
        run.said = []
        try run.tell(.tell(QueueBehaviour.report))
        try run.turn(seconds: 5) { run.said.count == options.processes }
        var ways = QueueFigures()
        for text in run.said { ways.merge(try JSONLine.decode(QueueFigures.self, Array(text.utf8))) }
        var result = run.result(outcome)
        (result.duplicates, result.reordered) = (nil, nil)
        result.publishAnswer = nil
        result.acknowledged = outcome.figures.acknowledged
        result.acknowledgedPerSecond = Double(outcome.figures.acknowledged) / Double(options.seconds)
        for (name, way) in [("by command", ways.command), ("straight in Redis", ways.redis)] {
            guard let figures = way.figures else { continue }
            result.notes.append(
                "\(name): \(figures.count) updates, p50 \(milliseconds(figures.p50Us)), "
                    + "p99 \(milliseconds(figures.p99Us)), max \(milliseconds(figures.maxUs))")
        }
        if outcome.lost > 0 { result.notes.append("\(outcome.lost) updates are missing") }
        result.passed = result.passed && outcome.figures.acknowledged > 0
        result.add(opening)
        return result
    }

    private func milliseconds(_ us: Int) -> String {
        "\(Double((us + 50) / 100) / 10) ms"
    }
}
