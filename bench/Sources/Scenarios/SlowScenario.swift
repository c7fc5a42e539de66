/// Some clients stop reading, or read slowly: measures the effect on the others, and the return of the slow ones.
struct SlowScenario: BenchScenario {
    private let options: BenchOptions

    init(_ options: BenchOptions) {
        self.options = options
    }

    /// Passed when no reading client was closed, the slow ones are live again with all events, and each gap was
    /// reported.
    func run(_ run: Coordinator) throws(BenchFailure) -> BenchResult {
        let report = try ReturnReport(run, .slow)
        let figures = report.figures
        var result = report.result(run, began: options.calm, ended: options.seconds - options.calm)
        result.passed =
            report.isWhole && report.outcome.figures.refused == 0 && figures.readersLost == 0
            && figures.notRecovered == 0
        if let returned = result.returned {
            func ms(_ us: Int?) -> String { us.map { "\(Double($0 / 100) / 10) ms" } ?? "-" }
            result.notes.insert(
                "\(options.slow) of \(options.connections) clients were slow: "
                    + "\(figures.lost - figures.readersLost) lost, \(figures.closedSlow) closed with 4410, "
                    + "\(figures.recovered) recovered; p99 of the others "
                    + "\(ms(returned.p99BeforeUs)) before, \(ms(returned.p99DuringUs)) meanwhile, "
                    + "\(ms(returned.p99AfterUs)) after", at: 0)
        }
        if figures.closedSlow == 0, figures.gaps == 0 {
            result.notes.append(
                "no slow client was noticed: what waited fitted into the kernel's buffers and the bounds")
        }
        if figures.readersLost > 0 { result.notes.append("\(figures.readersLost) clients that read were closed") }
        return result
    }
}
