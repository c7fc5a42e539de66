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
            health.isReady ? 1 : 0, and: health.rows.map { ("row", $0.row.rawValue, $0.isFine ? 1 : 0) })
        let servers = figures.servers.withLock { $0.figures }
        page.counter(
            "switchboard_redis_evicted_keys_total",
            servers.map { ("address", Metrics.bare($0.server), $0.load.evictedKeys) })
        page.gauge(
            "switchboard_redis_may_evict",
            servers.map { ("address", Metrics.bare($0.server), $0.load.mayEvict ? 1 : 0) })
        page.gauge(
            "switchboard_redis_used_bytes",
            servers.map { ("address", Metrics.bare($0.server), $0.load.usedBytes) })
        page.gauge(
            "switchboard_redis_maxmemory_bytes",
            servers.map { ("address", Metrics.bare($0.server), $0.load.boundBytes) })
        if let workers = figures.workers.withLock({ $0 }) {
            page.gauge("switchboard_workers_live", workers)
        }
        let couriers = figures.nodes.withLock {
            $0.offsetMs == nil ? nil : $0.others.filter { $0.kind == .courier }.count
        }
        if let couriers { page.gauge("switchboard_couriers_live", couriers) }
        page.tell(figures.calls.withLock { $0.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } })
        if let certificate = gate.certificate {
            page.gauge("switchboard_certificate_ends_seconds", certificate.notAfter)
        }
    }
}
