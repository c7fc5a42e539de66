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
        page.gauge("switchboard_sentinels_configured", "Sentinels that have a vote.", group.configured.value)
        page.gauge("switchboard_sentinels_answering", "Sentinels that answered last.", group.answering.value)
        page.gauge(
            "switchboard_redis_master", "1 for each master of now; none while none may be used.",
            (watched.isEmpty ? [] : [watched]).map { ("address", $0, 1) } + masters.map { ("address", $0.address, 1) })
        page.gauge(
            "switchboard_redis_master_ready", "1 for a master of a Cluster that every link is proven to deliver by.",
            masters.map { ("address", $0.address, $0.isProven ? 1 : 0) })
        page.gauge(
            "switchboard_redis_master_slots", "Slots of a master of a Cluster.",
            masters.map { ("address", $0.address, $0.slots) })
        page.gauge(
            "switchboard_redis_default_user_can_load",
            "1 for each master whose user `default` may load its append-only file, 0 where it may not.",
            figures.loads.withLock { $0.figures }.map { ("address", Metrics.bare($0.server), $0.canLoad) })
        if let outbox = figures.outbox.withLock({ $0.figures }) {
            page.gauge("switchboard_outbox_entries", "Entries in the outbox.", outbox.entries)
            page.gauge(
                "switchboard_outbox_oldest_seconds", "Age of the oldest entry of the outbox.", outbox.oldestMs / 1_000)
        }
        let links = figures.masters.links
        page.counter(
            "switchboard_redis_master_commands_total", "Commands sent, by master of a Cluster.",
            links.map { ("address", $0.address, $0.links.reduce(0) { $0 + $1.sent.value }) })
        page.counter(
            "switchboard_redis_master_failures_total", "Failures, by master of a Cluster.",
            links.map { entry in
                ("address", entry.address, entry.links.reduce(0) { $0 + $1.failuresByKind.reduce(0) { $0 + $1.1 } })
            })
        page.counter(
            "switchboard_redis_master_changes_total",
            "Masters, or histories, that another followed, by what became of epochs; on a Cluster as each shard's link saw it.",
            [
                ("epochs", "kept", group.switchesKept.value + changes.kept),
                ("epochs", "reset", group.switchesReset.value + changes.reset),
            ])
        page.counter(
            "switchboard_redis_master_unknown_total", "Questions to the Sentinels that found no master to use.",
            group.lost.value)
    }

    /// A label's value without characters that need quotes: the path of a socket may have them.
    static func bare(_ text: String) -> String { String(text.map { "\"\\".contains($0) ? "?" : $0 }) }
}
