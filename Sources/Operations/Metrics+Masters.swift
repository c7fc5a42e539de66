import Reactors
import RedisLink
import Service

/// Figures of the servers behind a group of Sentinels and behind a cluster.
extension Metrics {
    /// The current masters, their proof, and the counters of their links.
    func masters(_ page: inout MetricsPage) {
        let group = figures.sentinel
        let watched = group.master.withLock { $0 }
        let masters = figures.masters.masters
        let changes = figures.masters.changes
        page.gauge("switchboard_sentinels_configured", group.configured.value)
        page.gauge("switchboard_sentinels_answering", group.answering.value)
        page.gauge(
            "switchboard_redis_master",
            (watched.isEmpty ? [] : [watched]).map { ("address", $0, 1) } + masters.map { ("address", $0.address, 1) })
        page.gauge("switchboard_redis_master_ready", masters.map { ("address", $0.address, $0.isProven ? 1 : 0) })
        page.gauge("switchboard_redis_master_slots", masters.map { ("address", $0.address, $0.slots) })
        page.gauge(
            "switchboard_redis_default_user_can_load",
            figures.loads.withLock { $0.figures }.map { ("address", Metrics.bare($0.server), $0.canLoad) })
        if let outbox = figures.outbox.withLock({ $0.figures }) {
            page.gauge("switchboard_outbox_entries", outbox.entries)
            page.gauge("switchboard_outbox_oldest_seconds", outbox.oldestMs / 1_000)
        }
        let links = figures.masters.links
        page.counter(
            "switchboard_redis_master_commands_total",
            links.map { ("address", $0.address, $0.links.reduce(0) { $0 + $1.sent.value }) })
        page.counter(
            "switchboard_redis_master_failures_total",
            links.map { entry in
                ("address", entry.address, entry.links.reduce(0) { $0 + $1.failuresByKind.reduce(0) { $0 + $1.1 } })
            })
        page.counter(
            "switchboard_redis_master_changes_total",
            [
                ("epochs", "kept", group.switchesKept.value + changes.kept),
                ("epochs", "reset", group.switchesReset.value + changes.reset),
            ])
        page.counter("switchboard_redis_master_unknown_total", group.lost.value)
    }

    /// A label's value without characters that need quotes: the path of a socket may have them.
    static func bare(_ text: String) -> String { String(text.map { "\"\\".contains($0) ? "?" : $0 }) }
}
