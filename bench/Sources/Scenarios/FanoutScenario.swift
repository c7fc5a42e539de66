/// A steady rate of publishes, to one topic that all subscribe to (`fanout`) or to many in turn (`unicast`).
struct FanoutScenario: BenchScenario {
    private let options: BenchOptions

    init(_ options: BenchOptions) {
        self.options = options
    }

    /// Passed when every subscriber received every message exactly once.
    func run(_ run: Coordinator) throws(BenchFailure) -> BenchResult {
        try run.startClients(.listen)
        let opening = try run.openClients()
        guard opening.live > 0 else { throw BenchFailure("no client is live: \(run.notes.joined(separator: "; "))") }
        // Last, since servers close idle connections.
        try run.startPublisher()
        let before = try run.encodings()
        var result = run.result(try run.load(rate: options.rate, seconds: options.seconds))
        if let before, let after = try run.encodings(), after.publishes > before.publishes {
            result.encodingsPerPublish =
                Double(after.encodings - before.encodings) / Double(after.publishes - before.publishes)
        }
        result.add(opening)
        return result
    }
}

extension BenchResult {
    /// Adds the figures of opening the connections.
    mutating func add(_ opening: Coordinator.Opening) {
        connect = opening.connect.figures
        if opening.seconds > 0 { handshakesPerSecond = Double(opening.live) / opening.seconds }
        if opening.live > 0 { server?.cpuUsPerConnection = Double(opening.serverNs) / 1_000 / Double(opening.live) }
        refusedClients = (connections ?? 0) - opening.live
        if opening.live != connections {
            passed = false
            notes.append("\(opening.live) of \(connections ?? 0) clients were live")
        }
    }
}
