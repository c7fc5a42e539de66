/// The counters of a worker, for its log.
///
/// Thread: the worker's.
final class WorkerFigures {
    /// Keyspace events of keys that concern a refresh.
    var events = 0
    /// Refreshes that ran.
    var refreshes = 0
    /// Refreshes that failed and are tried again.
    var failures = 0
    /// Refreshes that were refused because another worker had a newer token.
    var fenced = 0
    /// Partitions gained and lost.
    var leaseChanges = 0
    /// Entries of the outbox relayed.
    var relayed = 0
    /// Entries given up.
    var dead = 0
    /// Calls of outside services that were given up, because no courier has finished them in time.
    var callsDropped = 0
    /// The longest delay of a refresh since the figures were logged last, milliseconds.
    var lagMs = 0

    /// The counters that only grow, as metrics show them.
    var counts: [(name: String, count: Int)] {
        [
            ("switchboard_worker_events_total", events), ("switchboard_worker_refreshes_total", refreshes),
            ("switchboard_worker_refresh_failures_total", failures),
            ("switchboard_worker_refreshes_fenced_total", fenced),
            ("switchboard_worker_lease_changes_total", leaseChanges),
            ("switchboard_worker_outbox_relayed_total", relayed), ("switchboard_worker_outbox_dead_total", dead),
            ("switchboard_worker_calls_dropped_total", callsDropped),
        ]
    }

    /// Name and value of each, as the log shows them.
    var fields: [(String, String)] {
        [
            ("events", "\(events)"), ("refreshes", "\(refreshes)"), ("failures", "\(failures)"),
            ("fenced", "\(fenced)"), ("leaseChanges", "\(leaseChanges)"), ("relayed", "\(relayed)"),
            ("dead", "\(dead)"), ("callsDropped", "\(callsDropped)"), ("lagMs", "\(lagMs)"),
        ]
    }
}
