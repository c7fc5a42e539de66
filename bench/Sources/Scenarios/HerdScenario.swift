/// All clients are cut at once under a light load and reconnect: measures time, cost and missed events.
struct HerdScenario: BenchScenario {
    private let options: BenchOptions

    init(_ options: BenchOptions) {
        self.options = options
    }

    /// Passed when every client was lost, all are live again, and each missed event was reported.
    func run(_ run: Coordinator) throws(BenchFailure) -> BenchResult {
        let report = try ReturnReport(run, .herd)
        let began = min(max(report.firstSecond ?? options.calm, 0), options.seconds)
        let ended = min(report.lastSecond(after: began) + 1, options.seconds)
        var result = report.result(run, began: began, ended: ended)
        // Each connection that the server's end breaks also counts as ended without a request.
        result.passed = report.isWhole && report.figures.lost >= options.connections
        if options.cut == .reset, report.outcome.figures.refused > 0 { result.passed = false }
        if let returned = result.returned, let lastUs = returned.back100Us {
            result.notes.insert(HerdScenario.summary(returned, lastUs, options.connections), at: 0)
        }
        if report.figures.lost < options.connections {
            result.notes.append("only \(report.figures.lost) of \(options.connections) clients were lost")
        }
        return result
    }

    private static func summary(_ returned: ReturnedFigures, _ lastUs: Int, _ clients: Int) -> String {
        func ms(_ us: Int?) -> String { us.map { "\($0 / 1_000) ms" } ?? "-" }
        return "live again: 50 % after \(ms(returned.back50Us)), 90 % \(ms(returned.back90Us)), "
            + "99 % \(ms(returned.back99Us)), all \(clients) after \(ms(lastUs)); "
            + "\(Int((returned.resumedShare ?? 0) * 100)) % of the handshakes resumed; p99 of deliveries "
            + "\(ms(returned.p99BeforeUs)) before, \(ms(returned.p99DuringUs)) meanwhile, "
            + "\(ms(returned.p99AfterUs)) after"
    }
}
