public import RedisLink

extension MetricsPage {
    /// Writes the number of waiting calls of each outside service, and whether a courier of it is running.
    public mutating func tell(_ calls: [(service: String, figures: CallsFigures)]) {
        guard !calls.isEmpty else { return }
        func each(_ figure: (CallsFigures) -> Int) -> [(label: String, value: String, count: Int)] {
            calls.map { ("service", $0.service, figure($0.figures)) }
        }
        gauge("switchboard_calls_waiting", "Calls of a service outside that wait or are made.", each(\.waiting))
        gauge("switchboard_calls_oldest_seconds", "Age of the oldest of them.", each { $0.oldestMs / 1_000 })
        gauge("switchboard_calls_dead_entries", "Calls given up, kept.", each(\.dead))
        gauge("switchboard_courier_alive", "1 while a courier of the service lives.", each { $0.hasCourier ? 1 : 0 })
    }
}
