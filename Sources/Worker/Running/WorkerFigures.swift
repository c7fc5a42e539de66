/// What a worker has done, for its log.
///
/// Thread: the worker's.
final class WorkerFigures {
    /// Keyspace events of keys that concern a refresh.
    var events = 0
    /// Refreshes that ran.
    var refreshes = 0
    /// Refreshes that failed and are tried again.
    var failures = 0
    /// Refreshes that another worker's token turned away.
    var fenced = 0
    /// Partitions gained and lost.
    var leaseChanges = 0
    /// Entries of the outbox relayed.
    var relayed = 0
    /// Entries given up.
    var dead = 0
    /// The longest time a refresh was started after it was due, since the figures were told last, milliseconds.
    var lagMs = 0

    /// Name and value of each, as the log shows them.
    var fields: [(String, String)] {
        [
            ("events", "\(events)"), ("refreshes", "\(refreshes)"), ("failures", "\(failures)"),
            ("fenced", "\(fenced)"), ("leaseChanges", "\(leaseChanges)"), ("relayed", "\(relayed)"),
            ("dead", "\(dead)"), ("lagMs", "\(lagMs)"),
        ]
    }
}
