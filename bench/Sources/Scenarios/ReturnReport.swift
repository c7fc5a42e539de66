/// The common part of `herd` and `slow`: the load, and the reconnections of its clients.
struct ReturnReport {
    let outcome: Coordinator.Outcome
    let figures: ReturnFigures
    let memory: MemoryWatch
    let opening: Coordinator.Opening

    /// Starts all processes, runs the load, and collects the clients' figures.
    init(_ run: Coordinator, _ kind: BehaviourKind) throws(BenchFailure) {
        let options = run.options
        try run.startClients(kind)
        try run.startPublisher()
        opening = try run.openClients()
        guard opening.live == options.connections else {
            throw BenchFailure(
                "\(opening.live) of \(options.connections) clients were live: \(run.notes.joined(separator: "; "))")
        }
        memory = try MemoryWatch(run.reactor, pids: options.pids)
        outcome = try run.load(rate: options.rate, seconds: options.seconds)
        memory.stop()
        run.said = []
        try run.tell(.tell(ReturningBehaviour.report))
        try run.turn(seconds: 10) { run.said.count == options.processes }
        var figures = ReturnFigures()
        for text in run.said { figures.merge(try JSONLine.decode(ReturnFigures.self, Array(text.utf8))) }
        self.figures = figures
    }

    /// Events that were neither received nor reported as missed.
    var lost: Int { max(outcome.figures.expected - outcome.figures.delivered - figures.toldMissed, 0) }

    /// Whether all clients are back, and none missed an event without a report or received one twice.
    var isWhole: Bool {
        figures.lost == figures.returns.count && lost == 0 && outcome.figures.duplicates == 0 && figures.newEpochs == 0
            && figures.unreadable == 0 && outcome.figures.delivered > 0
    }

    /// The result, with separate figures for the deliveries from second `began` until before `ended`.
    func result(_ run: Coordinator, began: Int, ended: Int) -> BenchResult {
        var result = run.result(outcome)
        let plan = outcome.plan
        let herd = HerdReturn(clients: run.options.connections, returns: figures.returns)
        result.lost = lost
        result.connect = figures.connect.figures
        result.handshakesPerSecond = herd.perSecond
        result.returned = ReturnedFigures(
            lost: figures.lost, back: figures.returns.count, back50Us: herd.backUs(percent: 50),
            back90Us: herd.backUs(percent: 90), back99Us: herd.backUs(percent: 99),
            back100Us: herd.backUs(percent: 100),
            resumedShare: figures.handshakes > 0 ? Double(figures.resumed) / Double(figures.handshakes) : nil,
            failedAttempts: figures.failedAttempts, recovered: figures.recovered, notRecovered: figures.notRecovered,
            recoveredEvents: figures.recoveredEvents, toldMissed: figures.toldMissed,
            closedSlow: run.options.scenario == .slow ? figures.closedSlow : nil,
            p99BeforeUs: p99(0..<began), p99DuringUs: p99(began..<ended), p99AfterUs: p99(ended..<plan.seconds),
            memoryBeforeBytes: memory.peak(plan.measureUs..<plan.measureUs + began * 1_000_000),
            memoryPeakBytes: memory.peak(plan.measureUs + began * 1_000_000..<Int.max))
        for second in result.series.indices {
            let untilUs = plan.measureUs + (second + 1) * 1_000_000
            let away = figures.returns.count { $0.lostUs <= untilUs && $0.liveUs > untilUs }
            let gone = second >= began ? figures.lost - figures.returns.count : 0
            result.series[second].connections = run.options.connections - away - gone
        }
        if figures.notRecovered > 0 {
            result.notes.append(
                "\(figures.notRecovered) clients were away for longer than the topic's log reaches, and were told so")
        }
        if figures.newEpochs > 0 { result.notes.append("an epoch began: what was missed cannot be told") }
        if figures.unreadable > 0 { result.notes.append("\(figures.unreadable) messages were not understood") }
        if figures.lost > figures.returns.count {
            result.notes.append("\(figures.lost - figures.returns.count) clients were not live again at the end")
        }
        if lost > 0 { result.notes.append("\(lost) events were missed in silence") }
        return result
    }

    /// The second of the load in which the last client returned; `began` when none did.
    func lastSecond(after began: Int) -> Int {
        max(figures.returns.map { outcome.plan.second($0.liveUs) }.max() ?? began, began)
    }

    /// The second in which the first client was lost.
    var firstSecond: Int? { figures.returns.map { outcome.plan.second($0.lostUs) }.min() }

    private func p99(_ seconds: Range<Int>) -> Int? {
        var histogram = LatencyHistogram()
        for second in seconds { histogram.merge(outcome.seconds[second]?.latency ?? LatencyHistogram()) }
        return histogram.percentile(0.99)
    }
}
