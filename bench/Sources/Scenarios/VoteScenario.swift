/// Users at a shop vote on its tracks: measures acknowledged votes a second, and the time from due to answer.
///
/// The shop, its session and its tracks `t0` ... `t19` must exist, and the users `u000000000000` ... be present
/// (bench/votes.sh creates them). Without `--rate` each user sends the next vote when one was answered (closed loop).
struct VoteScenario: BenchScenario {
    private let options: BenchOptions

    init(_ options: BenchOptions) {
        self.options = options
    }

    /// Passed when every vote was acknowledged.
    func run(_ run: Coordinator) throws(BenchFailure) -> BenchResult {
        try run.startClients(.vote)
        let opening = try run.openClients()
        guard opening.live == options.connections else {
            throw BenchFailure(
                "\(opening.live) of \(options.connections) users were live: \(run.notes.joined(separator: "; "))")
        }
        // In the closed loop the plan's rate has no meaning.
        let outcome = try run.load(rate: options.rate, seconds: options.seconds)
        let figures = outcome.figures
        let unanswered = max(figures.published - figures.acknowledged - figures.commandsRefused, 0)
        var result = run.result(outcome)
        (result.expected, result.delivered, result.duplicates, result.reordered) = (nil, nil, nil, nil)
        (result.deliveriesPerSecond, result.publishAnswer) = (nil, nil)
        result.refused = figures.commandsRefused
        result.lost = unanswered
        result.acknowledged = figures.acknowledged
        result.acknowledgedPerSecond = Double(figures.acknowledged) / Double(options.seconds)
        if figures.acknowledged > 0, !options.pids.isEmpty {
            result.server?.cpuUsPerPublish = Double(outcome.serverNs) / 1_000 / Double(figures.acknowledged)
        }
        for second in result.series.indices {
            result.series[second].delivered = outcome.seconds[second]?.acknowledged ?? 0
        }
        result.notes.append(
            options.isRateGiven
                ? "open loop: votes were due \(options.rate) times a second, latency is from then"
                : "closed loop: \(options.connections) users with \(options.window) votes under way each")
        if unanswered > 0 { result.notes.append("\(unanswered) votes were not answered") }
        result.passed =
            figures.acknowledged > 0 && figures.commandsRefused == 0 && unanswered == 0
            && figures.broken == 0
        result.add(opening)
        return result
    }
}
