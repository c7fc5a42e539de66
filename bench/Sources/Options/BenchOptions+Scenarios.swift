/// Rules for the command line of single scenarios.
extension BenchOptions {
    /// Whether `--rate` was given: `vote` is a closed loop without it.
    var isRateGiven: Bool { settings["rate"] != nil }

    /// Throws when the flags do not fit the scenario.
    func checkScenario() throws(BenchFailure) {
        let name = scenario.rawValue
        switch scenario {
        case .fanout, .unicast, .idle, .churn, .capacity: return
        case .vote, .queue, .herd, .slow: break
        }
        guard target == .switchboard else { throw BenchFailure("\(name) is for --target switchboard only") }
        guard dialects == [.native] else { throw BenchFailure("\(name) is for --dialect native only") }
        switch scenario {
        case .vote:
            guard !secretFile.isEmpty else {
                throw BenchFailure("vote needs --secret-file, the secret of its users' tokens")
            }
        case .queue:
            guard !apiKey.isEmpty, !redis.isEmpty else { throw BenchFailure("queue needs --api-key and --redis") }
            guard connections / processes >= (topics + processes - 1) / processes, topics >= processes else {
                throw BenchFailure("queue needs a client for each of --topics, and a topic for each of --processes")
            }
        case .herd, .slow:
            guard publish == .http else {
                throw BenchFailure("\(name) needs --publish http: positions to come back to")
            }
            let least = scenario == .herd ? calm + 1 : 2 * calm + 1
            guard seconds >= least else {
                throw BenchFailure("\(name) needs at least \(least) --seconds with --calm \(calm)")
            }
            guard scenario == .herd || slow < connections else {
                throw BenchFailure("--slow must be less than --connections: the others are measured")
            }
        default: break
        }
    }
}
