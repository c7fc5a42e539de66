/// Connections opened and closed repeatedly: descriptors and memory must return to their initial values.
struct ChurnScenario: BenchScenario {
    private let options: BenchOptions

    init(_ options: BenchOptions) {
        self.options = options
    }

    /// Passed when descriptors are as before and memory has stopped growing.
    func run(_ run: Coordinator) throws(BenchFailure) -> BenchResult {
        try run.startClients(.listen)
        let before = try ServerState(options.pids)
        var settled = before
        var connect = LatencyHistogram()
        var (openSeconds, live) = (0.0, 0)
        // The first tenth, or half of a short run, fills pools and caches; growth is measured from there.
        let warmUp = max(options.rounds / 10, min(options.rounds / 2, 10), 1)
        for round in 1...options.rounds {
            let opening = try run.openClients(seconds: 60)
            guard opening.live == options.connections else {
                throw BenchFailure("round \(round): \(opening.live) of \(options.connections) were live")
            }
            connect.merge(opening.connect)
            openSeconds += opening.seconds
            live += opening.live
            guard try run.closeClients() else { throw BenchFailure("round \(round): not all were closed") }
            if round == warmUp { settled = try settle(run, before) }
        }
        let end = try settle(run, before)
        let growth = end.privateBytes - settled.privateBytes
        var result = run.result(openSeconds)
        result.connect = connect.figures
        result.handshakesPerSecond = Double(live) / max(openSeconds, 0.001)
        result.server = ServerFigures(processes: options.pids.count, cores: 0, privateBytes: end.privateBytes)
        result.passed = end.descriptors == before.descriptors && growth <= settled.privateBytes / 20
        result.notes.append(
            "\(options.rounds) x \(options.connections): descriptors \(before.descriptors) before, \(end.descriptors) "
                + "after; memory since round \(warmUp) grew by \(growth / 1_024) kB")
        return result
    }

    private struct ServerState {
        var descriptors = 0
        var privateBytes = 0

        init(_ pids: [Int32]) throws(BenchFailure) {
            for pid in pids {
                let figures = try ProcessFigures(pid: pid)
                descriptors += figures.descriptors
                privateBytes += figures.privateBytes
            }
        }
    }

    /// Waits until the server has closed every descriptor, at most ten seconds.
    private func settle(_ run: Coordinator, _ before: ServerState) throws(BenchFailure) -> ServerState {
        for _ in 0..<100 {
            let now = try ServerState(options.pids)
            if now.descriptors <= before.descriptors { return now }
            try run.turn(seconds: 0.1)
        }
        return try ServerState(options.pids)
    }
}
