/// A result in a few lines.
enum PlainResult {
    static func text(_ result: BenchResult) -> String {
        var lines = ["\(result.scenario) \(result.target): \(result.passed ? "passed" : "FAILED")"]
        func add(_ name: String, _ value: Any?) {
            if let value { lines.append("  \(name) \(value)") }
        }
        add("connections", result.connections)
        add("published", result.published)
        add("refused", result.refused)
        add("expected", result.expected)
        add("delivered", result.delivered)
        add("lost", result.lost)
        add("duplicates", result.duplicates)
        add("reordered", result.reordered)
        add("deliveries/s", result.deliveriesPerSecond.map { Int($0) })
        add("handshakes/s", result.handshakesPerSecond.map { Int($0) })
        add("acknowledged/s", result.acknowledgedPerSecond.map { Int($0) })
        add("highest rate", result.highestRate)
        for (name, figures) in [
            ("latency", result.latency), ("connect", result.connect), ("answer", result.publishAnswer),
        ] {
            if let figures {
                add(name, "p50 \(figures.p50Us) p90 \(figures.p90Us) p99 \(figures.p99Us) max \(figures.maxUs) us")
            }
        }
        add("server cores", result.server?.cores)
        add("CPU us per delivery", result.server?.cpuUsPerDelivery)
        add("CPU us per connection", result.server?.cpuUsPerConnection)
        add("private bytes", result.server?.privateBytes)
        add("private bytes per connection", result.server?.privateBytesPerConnection)
        add("tool cores", result.toolCores)
        add("redis cores", result.redisCores)
        for note in result.notes { lines.append("  note: \(note)") }
        return lines.joined(separator: "\n")
    }
}
