import Core
import HTTPCodec
import RedisLink
import Service

/// The state of a worker, for `/livez`, `/readyz` and `/metrics`.
///
/// A value: the worker fills it in for each request.
struct WorkerReport {
    /// The counters of the worker.
    var figures: [(name: String, help: String, count: Int)] = []
    /// Whether it is connected and its lease is valid.
    var isReady = false
    /// The reason why there is no connection; empty while there is one.
    var trouble = ""
    /// Partitions held, and workers alive.
    var partitions = 0
    var workers = 0
    /// Refreshes of ids known, and the milliseconds that the last search of all keys took.
    var known = 0
    var scanMs: Int?
    /// The longest delay of a refresh since the figures were logged last.
    var lagMs = 0
    /// Entries of the outbox read and not done.
    var outboxInHand = 0
    /// Entries in Redis at the last request: waiting, and given up; `nil` before the first answer.
    var outbox: OutboxFigures?
    var outboxDead: Int?
    /// The times for which the whole process was suspended.
    let stalls: ProcessStalls
    /// The clock, and the other processes.
    var nodes: NodeBook?
    /// The calls that wait for couriers, by service.
    var calls: [(service: String, figures: CallsFigures)] = []

    /// The answer to a request.
    func response(to head: HTTPRequestHead) -> HTTPResponse {
        OperationsAnswer.response(to: head, isReady: isReady, trouble: trouble, metrics: metrics)
    }

    private var metrics: [UInt8] {
        var page = MetricsPage()
        page.gauge("switchboard_worker_ready", "1 while connected to Redis and holding its lease.", isReady ? 1 : 0)
        for figure in figures { page.counter("switchboard_worker_\(figure.name)_total", figure.help, figure.count) }
        page.gauge("switchboard_worker_partitions", "Partitions held, of 65.", partitions)
        page.gauge("switchboard_workers", "Workers alive, this one included.", workers)
        page.gauge("switchboard_worker_ids", "Refreshes of ids known.", known)
        page.gauge(
            "switchboard_worker_lag_seconds", "The longest a refresh began late, in this minute.", milliseconds: lagMs)
        if let scanMs {
            page.gauge(
                "switchboard_worker_scan_seconds", "Time of the last look through all keys.", milliseconds: scanMs)
        }
        page.gauge("switchboard_worker_outbox_in_hand", "Entries of the outbox read and not done.", outboxInHand)
        if let outbox {
            page.gauge("switchboard_outbox_entries", "Entries in the outbox.", outbox.entries)
            page.gauge(
                "switchboard_outbox_oldest_seconds", "Age of the oldest entry of the outbox.", outbox.oldestMs / 1_000)
        }
        if let outboxDead { page.gauge("switchboard_outbox_dead_entries", "Entries given up, kept.", outboxDead) }
        page.tell(calls)
        if let nodes { page.tell(nodes) }
        page.tell(stalls)
        return page.bytes
    }
}
