public import RedisLink

extension MetricsPage {
    /// Writes the number of waiting calls of each outside service, and whether a courier of it is running.
    public mutating func tell(_ calls: [(service: String, figures: CallsFigures)]) {
        guard !calls.isEmpty else { return }
        func each(_ figure: (CallsFigures) -> Int) -> [(label: String, value: String, count: Int)] {
            calls.map { ("service", $0.service, figure($0.figures)) }
        }
        gauge("switchboard_calls_waiting", each(\.waiting))
        gauge("switchboard_calls_oldest_seconds", each { $0.oldestMs / 1_000 })
        gauge("switchboard_calls_dead_entries", each(\.dead))
        gauge("switchboard_courier_alive", each { $0.hasCourier ? 1 : 0 })
    }
}
