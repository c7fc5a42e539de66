/// A result as one of several: its name, and the merging of repeated runs.
extension BenchResult {
    /// The name for readers: `--label`, else the target with the options of its clients.
    var name: String {
        if let label = settings["label"] { return label }
        let asked = [settings["dialect"], settings["deflate"] == "on" ? "deflate" : nil]
        return ([target] + asked.compactMap { $0 }).joined(separator: "/")
    }

    /// The kind of server, whatever its label.
    var kind: String {
        settings["target"] ?? target
    }

    /// The settings that affect the figures: all but the address and kind of the target, and the outputs.
    var load: [String: String] {
        settings.filter { !BenchResult.ownSettings.contains($0.key) }
    }

    private static let ownSettings: Set<String> = [
        "url", "target", "target-version", "pid", "redis", "redis-pid", "label", "json", "html", "port", "pin",
        "api-key", "secret-file", "dialect", "deflate",
    ]

    /// The clients and publishes that were refused, in words; `nil` for a run without any.
    ///
    /// Refusals change the load of these scenarios, so the figures of such a run tell nothing. Other scenarios cause
    /// them on purpose.
    var refusals: String? {
        guard ["fanout", "unicast", "idle"].contains(scenario) else { return nil }
        let (clients, publishes) = (refusedClients ?? 0, refused ?? 0)
        guard clients > 0 || publishes > 0 else { return nil }
        return "\(Figure.whole(clients)) clients and \(Figure.whole(publishes)) publishes were refused"
    }

    /// The result without any figure but the counts of refusals.
    private var withoutFigures: BenchResult {
        var out = BenchResult(
            scenario: scenario, target: target, targetVersion: targetVersion, settings: settings, passed: false,
            notes: notes, seconds: seconds, connections: connections)
        (out.refused, out.refusedClients) = (refused, refusedClients)
        (out.startedAt, out.machine, out.commit) = (startedAt, machine, commit)
        return out
    }

    /// CPU of the server for one delivery as a multiple of the reference's.
    func cpuPerDelivery(over reference: BenchResult?) -> Double? {
        guard let own = server?.cpuUsPerDelivery, let floor = reference?.server?.cpuUsPerDelivery, floor > 0 else {
            return nil
        }
        return own / floor
    }

    /// Repeated runs as one: counts are added, histograms merged, rates weighted by their bases.
    ///
    /// A figure is present when any run has it. The series are those of the last run: seconds of two runs are not
    /// comparable. A run with refusals counts as failed, and its figures are left out.
    static func merged(_ all: [BenchResult]) -> BenchResult? {
        let runs = all.filter { $0.refusals == nil }
        guard var out = runs.last else { return all.last?.withoutFigures }
        out.passed = all.allSatisfy(\.passed)
        out.notes = all.flatMap(\.notes).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        guard runs.count > 1 else { return out }
        func sum(_ member: KeyPath<BenchResult, Int?>) -> Int? {
            let present = runs.compactMap { $0[keyPath: member] }
            return present.isEmpty ? nil : present.reduce(0, &+)
        }
        func mean(_ member: (BenchResult) -> Double?, by weight: (BenchResult) -> Double?) -> Double? {
            let present = runs.compactMap { run in member(run).map { ($0, max(weight(run) ?? 1, 1)) } }
            let total = present.reduce(0) { $0 + $1.1 }
            return present.isEmpty ? nil : present.reduce(0) { $0 + $1.0 * $1.1 } / total
        }
        let inSeconds = { (run: BenchResult) -> Double? in run.seconds }
        out.notes.append("\(runs.count) runs merged")
        out.seconds = runs.reduce(0) { $0 + $1.seconds }
        for member in countMembers { out[keyPath: member] = sum(member) }
        out.deliveriesPerSecond = mean({ $0.deliveriesPerSecond }, by: inSeconds)
        out.bytesPerDelivery = mean({ $0.bytesPerDelivery }, by: { $0.delivered.map(Double.init) })
        out.encodingsPerPublish = mean({ $0.encodingsPerPublish }, by: { $0.published.map(Double.init) })
        out.acknowledgedPerSecond = mean({ $0.acknowledgedPerSecond }, by: inSeconds)
        out.handshakesPerSecond = mean({ $0.handshakesPerSecond }, by: inSeconds)
        out.toolCores = mean({ $0.toolCores }, by: inSeconds)
        out.stolenPercent = mean({ $0.stolenPercent }, by: inSeconds)
        out.redisCores = mean({ $0.redisCores }, by: inSeconds)
        out.highestRate = runs.compactMap(\.highestRate).min()
        out.latency = LatencyFigures.merged(runs.compactMap(\.latency))
        out.connect = LatencyFigures.merged(runs.compactMap(\.connect))
        out.publishAnswer = LatencyFigures.merged(runs.compactMap(\.publishAnswer))
        guard var server = runs.compactMap(\.server).last else { return out }
        let byDelivery = { (run: BenchResult) in run.delivered.map(Double.init) }
        let byPublish = { (run: BenchResult) in run.published.map(Double.init) }
        let byConnection = { (run: BenchResult) in run.connections.map(Double.init) }
        server.cores = mean({ $0.server?.cores }, by: inSeconds) ?? server.cores
        server.cpuUsPerDelivery = mean({ $0.server?.cpuUsPerDelivery }, by: byDelivery)
        server.cpuUsPerPublish = mean({ $0.server?.cpuUsPerPublish }, by: byPublish)
        server.cpuUsPerConnection = mean({ $0.server?.cpuUsPerConnection }, by: byConnection)
        server.privateBytes = runs.compactMap { $0.server?.privateBytes }.max()
        server.privateBytesPerConnection = mean(
            { $0.server?.privateBytesPerConnection.map(Double.init) }, by: byConnection
        ).flatMap { Int(exactly: $0.rounded()) }
        out.server = server
        return out
    }

    private static var countMembers: [WritableKeyPath<BenchResult, Int?>] {
        [\.published, \.refused, \.expected, \.delivered, \.lost, \.duplicates, \.reordered, \.acknowledged]
    }
}
