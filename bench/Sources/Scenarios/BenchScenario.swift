/// One measurement, in the coordinator's process (``Coordinator`` describes how to add one).
protocol BenchScenario {
    init(_ options: BenchOptions)
    func run(_ run: Coordinator) throws(BenchFailure) -> BenchResult
}

extension BenchOptions.Scenario {
    func make(_ options: BenchOptions) -> any BenchScenario {
        switch self {
        case .fanout, .unicast: FanoutScenario(options)
        case .idle: IdleScenario(options)
        case .churn: ChurnScenario(options)
        case .capacity: CapacityScenario(options)
        case .vote: VoteScenario(options)
        case .queue: QueueScenario(options)
        case .herd: HerdScenario(options)
        case .slow: SlowScenario(options)
        }
    }
}

extension BenchOptions {
    /// The name of a topic by its number: with one topic, the topic itself.
    func topicName(_ number: Int) -> String { topics == 1 ? topic : topic + String(number) }

    /// The dialect of the client of that number.
    func dialect(_ number: Int) -> ClientDialect { dialects[number % dialects.count] }
}

extension Coordinator {
    /// Whether each topic's messages are sent one after the other: over the one connection to Redis.
    private var publishesInOrder: Bool { options.publish == .redis }

    /// A result with the figures common to all runs; the scenario adds its own.
    func result(_ seconds: Double) -> BenchResult {
        BenchResult(
            scenario: options.scenario.rawValue,
            target: options.label.isEmpty ? options.target.rawValue : options.label,
            targetVersion: options.targetVersion, settings: options.settings, passed: false, notes: notes,
            seconds: seconds, connections: options.connections)
    }

    /// The same with all figures of a load.
    func result(_ outcome: Outcome) -> BenchResult {
        var result = result(outcome.elapsed)
        let figures = outcome.figures
        result.published = figures.published
        result.refused = figures.refused
        result.expected = figures.expected
        result.delivered = figures.delivered
        result.lost = outcome.lost
        result.duplicates = figures.duplicates
        // Connections of one publisher overtake each other, which no target could change.
        if publishesInOrder { result.reordered = figures.reordered }
        result.latency = figures.latency.figures
        if figures.came > 0 { result.bytesPerDelivery = Double(figures.bytes) / Double(figures.came) }
        result.publishAnswer = figures.answer.figures
        // Deliveries within the window: a server that is too slow delivers the rest later, by CPU not counted here.
        let inTime = (0..<outcome.plan.seconds).reduce(0) { $0 + (outcome.seconds[$1]?.delivered ?? 0) }
        result.deliveriesPerSecond = Double(inTime) / Double(outcome.plan.seconds)
        let elapsedNs = outcome.elapsed * 1_000_000_000
        // The clock of a server that died has gone back.
        if !options.pids.isEmpty, outcome.serverNs >= 0 {
            result.server = ServerFigures(
                processes: options.pids.count, cores: Double(outcome.serverNs) / elapsedNs,
                cpuUsPerDelivery: inTime > 0 ? Double(outcome.serverNs) / 1_000 / Double(inTime) : nil,
                cpuUsPerPublish: figures.published > 0
                    ? Double(outcome.serverNs) / 1_000 / Double(figures.published) : nil,
                privateBytes: outcome.privateBytes)
        }
        result.toolCores = Double(outcome.toolNs) / elapsedNs
        if options.redisPid > 0 { result.redisCores = Double(outcome.redisNs) / elapsedNs }
        for second in 0..<outcome.plan.seconds {
            let of = outcome.seconds[second] ?? RunFigures()
            let cores = outcome.cores[second]
            result.series.append(
                BenchSecond(
                    second: Double(second + 1), published: of.published, delivered: of.delivered,
                    p50Us: of.latency.percentile(0.5), p99Us: of.latency.percentile(0.99),
                    serverCores: options.pids.isEmpty ? nil : cores.server, toolCores: cores.tool,
                    connections: outcome.live))
        }
        result.notes += outcome.notes
        result.passed = outcome.isWhole && outcome.live == options.connections
        return result
    }
}

extension Coordinator.Outcome {
    /// Remarks about the load for a reader.
    var notes: [String] {
        var notes: [String] = []
        if figures.unmarked > 0 { notes.append("\(figures.unmarked) messages had no marker") }
        if figures.broken > 0 { notes.append("\(figures.broken) connections ended or could not be made") }
        if let late = figures.late.percentile(0.99), late > 5_000 {
            notes.append("the tool published late: 1 of 100 by more than \(late / 1_000) ms, which is in every latency")
        }
        return notes
    }
}
