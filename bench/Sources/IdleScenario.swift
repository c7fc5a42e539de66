import Core

/// Many connections that do nothing: what each costs in memory, and all together in CPU.
struct IdleScenario {
    private let options: BenchOptions

    init(_ options: BenchOptions) {
        self.options = options
    }

    /// Prints one line of figures; true when every connection was live to the end.
    func run() throws(BenchFailure) -> Bool {
        let run = try BenchRun(options)
        let before = try ProcessFigures(pid: options.pid)
        let opened = run.open(options.connections, seconds: 300)
        let after = try ProcessFigures(pid: options.pid)
        // A second in which late tickets and acknowledgements settle is not counted.
        _ = run.turn(seconds: 1) { false }
        let start = try ProcessFigures(pid: options.pid)
        _ = run.turn(seconds: options.seconds) { false }
        let end = try ProcessFigures(pid: options.pid)
        let alive = run.live - run.ended
        let bytes = (end.privateBytes - before.privateBytes) / max(alive, 1)
        let setUpUs = (after.cpuSeconds - before.cpuSeconds) * 1_000_000 / Double(options.connections)
        let cpu = (end.cpuSeconds - start.cpuSeconds) / Double(options.seconds) * 100
        print(
            "connections \(alive)/\(options.connections)  private bytes each \(bytes)  "
                + "set-up CPU each \(Int(setUpUs)) us  idle CPU \(Double(Int(cpu * 100)) / 100) % of a core")
        _ = run.closeAll(seconds: 60)
        return opened && alive == options.connections
    }
}
