import Reactors
import RedisLink
import Service
import Transport

/// The table of readiness, and the figures behind its rows.
extension Metrics {
    /// Each row, and the node's overall readiness.
    static func readiness(_ node: Node, _ page: inout MetricsPage) {
        page.gauge(
            "switchboard_ready",
            "Without a label: 1 while the node may be sent clients. By row: 1 while its promise holds.",
            node.health.isReady ? 1 : 0, and: node.health.rows.map { ("row", $0.row.rawValue, $0.isFine ? 1 : 0) })
        let servers = node.servers.withLock { $0.figures }
        page.counter(
            "switchboard_redis_evicted_keys_total", "Keys that a master has evicted since its start.",
            servers.map { ("address", bare($0.server), $0.load.evictedKeys) })
        page.gauge(
            "switchboard_redis_may_evict", "1 for a master whose maxmemory-policy is not noeviction.",
            servers.map { ("address", bare($0.server), $0.load.mayEvict ? 1 : 0) })
        page.gauge(
            "switchboard_redis_used_bytes", "Memory that a master uses.",
            servers.map { ("address", bare($0.server), $0.load.usedBytes) })
        page.gauge(
            "switchboard_redis_maxmemory_bytes", "Memory that a master may use; 0 without a bound.",
            servers.map { ("address", bare($0.server), $0.load.boundBytes) })
        if let workers = node.workersAlive.withLock({ $0 }) {
            page.gauge("switchboard_workers_live", "Workers alive.", workers)
        }
        let couriers = node.nodes.withLock { $0.offsetMs == nil ? nil : $0.others.filter { $0.kind == .courier }.count }
        if let couriers { page.gauge("switchboard_couriers_live", "Couriers alive.", couriers) }
        page.tell(node.outsideCalls.withLock { $0.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } })
        if let certificate = node.gate.certificate {
            page.gauge(
                "switchboard_certificate_ends_seconds", "When the certificate ends, seconds since 1970.",
                certificate.notAfter)
        }
    }
}
