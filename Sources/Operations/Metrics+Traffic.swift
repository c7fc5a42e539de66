import Core
import Reactors
import Service

/// Figures by namespace and by route, delivery latency, and limits.
extension Metrics {
    /// The time and the number of deliveries, and events by namespace.
    func namespaces(_ page: inout MetricsPage) {
        let shards = figures.shards.all
        page.histogram("switchboard_delivery_latency_seconds", shards.map(\.deliveryLatency))
        let names = shards.first?.namespaces.names ?? []
        func each(_ count: (NamespaceStatistics.Counts) -> Int) -> [(label: String, value: String, count: Int)] {
            names.map { name in
                ("namespace", name, shards.reduce(0) { $0 + ($1.namespaces.counts(named: name).map(count) ?? 0) })
            }
        }
        page.counter("switchboard_namespace_publishes_total", each { $0.published.value })
        page.counter("switchboard_namespace_events_total", each { $0.events.value })
        page.counter("switchboard_namespace_deliveries_total", each { $0.deliveries.value })
    }

    /// The answers of each route that has been asked for.
    func answers(_ page: inout MetricsPage) {
        let shards = figures.answers.all
        var values: [(label: String, value: String, count: Int)] = []
        for (place, label) in figures.routes.labels.enumerated() {
            var counts = AnswerCounts.classes.map { _ in 0 }
            for shard in shards { for (index, count) in shard.counts(place).enumerated() { counts[index] += count } }
            guard counts.contains(where: { $0 > 0 }) else { continue }
            for (status, count) in zip(AnswerCounts.classes, counts) {
                let value = "\(label.method)\",route=\"\(Metrics.bare(label.route))\",status=\"\(status)"
                values.append(("method", value, count))
            }
        }
        page.counter("switchboard_http_responses_total", values)
    }

    /// Every limit.
    func limits(_ page: inout MetricsPage) {
        page.gauge(
            "switchboard_limit",
            Limits.table.map { entry in
                let isMemory = entry.name == "memoryBytesMax"
                return ("name", entry.name, isMemory ? memory.boundBytes : figures.limits[keyPath: entry.path])
            })
    }
}
