import Core

/// Connections opened and closed again and again: descriptors and memory must come back to the beginning.
struct ChurnScenario {
    private let options: BenchOptions

    init(_ options: BenchOptions) {
        self.options = options
    }

    /// Prints a line now and then; true when descriptors are as before and memory has stopped growing.
    func run() throws(BenchFailure) -> Bool {
        let run = try BenchRun(options)
        let before = try ProcessFigures(pid: options.pid)
        var settled = before
        // The first tenth fills pools and caches that are kept; growth is measured from there.
        let warmUp = max(options.rounds / 10, 1)
        for round in 1...options.rounds {
            guard run.open(options.connections, seconds: 60), run.live == options.connections else {
                throw BenchFailure("round \(round): \(run.live) of \(options.connections) were live")
            }
            guard run.closeAll(seconds: 60) else { throw BenchFailure("round \(round): not all were closed") }
            if round == warmUp { settled = try settle(run, before) }
            if round % max(options.rounds / 10, 1) == 0 {
                let now = try ProcessFigures(pid: options.pid)
                print("round \(round)  descriptors \(now.descriptors)  private \(now.privateBytes / 1_024) kB")
            }
        }
        let end = try settle(run, before)
        let growth = end.privateBytes - settled.privateBytes
        print(
            "before: descriptors \(before.descriptors)  after \(options.rounds) x \(options.connections): "
                + "\(end.descriptors)  memory since round \(warmUp): \(growth / 1_024) kB")
        return end.descriptors == before.descriptors && growth <= settled.privateBytes / 20
    }

    /// Waits until the gateway has closed every descriptor, at most ten seconds.
    private func settle(_ run: BenchRun, _ before: ProcessFigures) throws(BenchFailure) -> ProcessFigures {
        for _ in 0..<100 {
            let now = try ProcessFigures(pid: options.pid)
            if now.descriptors <= before.descriptors { return now }
            _ = run.turn(seconds: 1) { true }
            _ = run.turn(seconds: 1) { false }
        }
        return try ProcessFigures(pid: options.pid)
    }
}
