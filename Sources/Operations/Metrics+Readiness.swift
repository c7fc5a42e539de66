import Connections
import Reactors
import RedisLink
import Service

/// The table of readiness, and the figures behind its rows.
extension Metrics {
    /// Each row, and the node's overall readiness.
    func readiness(_ page: inout MetricsPage) {
        page.gauge(
            "switchboard_ready",
            "Without a label: 1 while the node may be sent clients. By row: 1 while its promise holds.",
            health.isReady ? 1 : 0, and: health.rows.map { ("row", $0.row.rawValue, $0.isFine ? 1 : 0) })
        let servers = figures.servers.withLock { $0.figures }
        page.counter(
            "switchboard_redis_evicted_keys_total", "Keys that a master has evicted since its start.",
            servers.map { ("address", Metrics.bare($0.server), $0.load.evictedKeys) })
        page.gauge(
            "switchboard_redis_may_evict", "1 for a master whose maxmemory-policy is not noeviction.",
            servers.map { ("address", Metrics.bare($0.server), $0.load.mayEvict ? 1 : 0) })
        page.gauge(
            "switchboard_redis_used_bytes", "Memory that a master uses.",
            servers.map { ("address", Metrics.bare($0.server), $0.load.usedBytes) })
        page.gauge(
            "switchboard_redis_maxmemory_bytes", "Memory that a master may use; 0 without a bound.",
            servers.map { ("address", Metrics.bare($0.server), $0.load.boundBytes) })
        if let workers = figures.workers.withLock({ $0 }) {
            page.gauge("switchboard_workers_live", "Workers alive.", workers)
        }
        let couriers = figures.nodes.withLock {
            $0.offsetMs == nil ? nil : $0.others.filter { $0.kind == .courier }.count
        }
        if let couriers { page.gauge("switchboard_couriers_live", "Couriers alive.", couriers) }
        page.tell(figures.calls.withLock { $0.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } })
        if let certificate = gate.certificate {
            page.gauge(
                "switchboard_certificate_ends_seconds", "When the certificate ends, seconds since 1970.",
                certificate.notAfter)
        }
    }
}
