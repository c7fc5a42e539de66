import Core
import HTTPCodec
import RedisLink
import Service

/// The state of a worker, for `/livez`, `/readyz` and `/metrics`.
///
/// A value: the worker fills it in for each request.
struct WorkerReport {
    /// The counters of the worker.
    var figures: [(name: String, count: Int)] = []
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
        page.gauge("switchboard_worker_ready", isReady ? 1 : 0)
        for figure in figures { page.counter(figure.name, figure.count) }
        page.gauge("switchboard_worker_partitions", partitions)
        page.gauge("switchboard_workers", workers)
        page.gauge("switchboard_worker_ids", known)
        page.gauge("switchboard_worker_lag_seconds", milliseconds: lagMs)
        if let scanMs {
            page.gauge("switchboard_worker_scan_seconds", milliseconds: scanMs)
        }
        page.gauge("switchboard_worker_outbox_in_hand", outboxInHand)
        if let outbox {
            page.gauge("switchboard_outbox_entries", outbox.entries)
            page.gauge("switchboard_outbox_oldest_seconds", outbox.oldestMs / 1_000)
        }
        if let outboxDead { page.gauge("switchboard_outbox_dead_entries", outboxDead) }
        page.tell(calls)
        if let nodes { page.tell(nodes) }
        page.tell(stalls)
        page.tellProcess()
        return page.bytes
    }
}
