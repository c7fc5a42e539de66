/// Many idle connections: measures the memory and setup cost of each, and the CPU of all together.
struct IdleScenario: BenchScenario {
    private let options: BenchOptions

    init(_ options: BenchOptions) {
        self.options = options
    }

    /// Passed when every connection was live to the end.
    func run(_ run: Coordinator) throws(BenchFailure) -> BenchResult {
        try run.startClients(.listen)
        let server = CPUClock(pids: options.pids)
        let before = try privateBytes()
        let opening = try run.openClients()
        // A second in which late tickets and acknowledgements settle is not counted.
        try run.turn(seconds: 1)
        let startNs = server.nanoseconds()
        try run.turn(seconds: Double(options.seconds))
        let idleNs = server.nanoseconds() - startNs
        let after = try privateBytes()
        let alive = run.live
        var result = run.result(Double(options.seconds))
        result.server = ServerFigures(
            processes: options.pids.count, cores: Double(idleNs) / 1_000_000_000 / Double(options.seconds),
            privateBytes: after, privateBytesPerConnection: (after - before) / max(alive, 1))
        result.passed = true
        result.add(opening)
        if alive < opening.live {
            result.passed = false
            result.notes.append("\(opening.live - alive) connections ended")
        }
        _ = try run.closeClients()
        return result
    }

    private func privateBytes() throws(BenchFailure) -> Int {
        var sum = 0
        for pid in options.pids { sum += try ProcessFigures(pid: pid).privateBytes }
        return sum
    }
}
