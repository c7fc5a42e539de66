/// The metrics of workers, of couriers and of every process.
extension MetricGroup {
    /// The outbox and calls of services, as gateways and workers see them.
    static let shared = MetricGroup(
        "Outbox and calls", of: [.gateway, .worker],
        [
            .gauge("switchboard_outbox_entries", "Entries in the outbox.", mend: "stays over 10,000: add a worker"),
            .gauge(
                "switchboard_outbox_oldest_seconds", "Age of the oldest entry of the outbox.",
                mend: "stays over 5: no worker lives, or one payer's entries cannot be done"),
            .gauge(
                "switchboard_calls_waiting", "Calls of a service outside that wait or are made.", by: ["service"],
                mend: "grows: the courier or the service is slow"),
            .gauge(
                "switchboard_calls_oldest_seconds", "Age of the oldest of them.", by: ["service"],
                mend: "stays over 60: the service does not answer"),
            .gauge(
                "switchboard_calls_dead_entries", "Calls given up, kept.", by: ["service"],
                mend: "`GET /v1/dead-letters` shows them"),
            .gauge(
                "switchboard_courier_alive", "1 while a courier of the service lives.", by: ["service"],
                mend: "0: start a courier"),
        ])

    /// Refreshes and the outbox, as a worker sees them.
    static let worker = MetricGroup(
        "Worker", of: [.worker],
        [
            .gauge(
                "switchboard_worker_ready", "1 while connected to Redis and holding its lease.",
                mend: "0: the log says why; mostly Redis"),
            .gauge(
                "switchboard_workers", "Workers alive, this one included.",
                mend: "less than you run: start the others"),
            .gauge("switchboard_worker_partitions", "Partitions held, of 65.", mend: "all workers together hold 65"),
            .counter(
                "switchboard_worker_lease_changes_total", "Partitions gained and lost.",
                mend: "grows all the time: workers start and end, or Redis is slow"),
            .gauge(
                "switchboard_worker_ids", "Refreshes of ids known.",
                mend: "grows without end: a script makes keys that nothing deletes"),
            .gauge(
                "switchboard_worker_scan_seconds", "Time of the last look through all keys.",
                mend: "more than a minute: too many keys for one look, add a worker"),
            .gauge(
                "switchboard_worker_lag_seconds", "The longest a refresh began late, in this minute.",
                mend: "stays over 1: add a worker"),
            .counter(
                "switchboard_worker_events_total", "Keyspace events that concern a refresh.",
                mend: "stands still while keys change: keyspace events are off; the worker finds changes by sweep"),
            .counter(
                "switchboard_worker_refreshes_total", "Refreshes that ran.",
                mend: "stands still while `switchboard_worker_events_total` grows: see the log"),
            .counter(
                "switchboard_worker_refresh_failures_total", "Refreshes that failed and are tried again.",
                mend: "the log names the script and its error"),
            .counter(
                "switchboard_worker_refreshes_fenced_total", "Refreshes that a newer lease turned away.",
                mend: "grows: a worker stood still for longer than its lease"),
            .counter(
                "switchboard_worker_outbox_relayed_total", "Entries of the outbox done.",
                mend: "stands still while `switchboard_outbox_entries` grows: see the log"),
            .gauge(
                "switchboard_worker_outbox_in_hand", "Entries of the outbox read and not done.",
                mend: "high for long: a command that entries call is slow"),
            .counter(
                "switchboard_worker_outbox_dead_total", "Entries of the outbox given up.",
                mend: "look at `#outbox-dead`"),
            .gauge(
                "switchboard_outbox_dead_entries", "Entries given up, kept.",
                mend: "look at `#outbox-dead`, mend by hand, then delete the entry"),
            .counter(
                "switchboard_worker_calls_dropped_total", "Calls of services outside that no courier finished in time.",
                mend: "start a courier, or look at the service"),
        ])

    /// Services, webhooks and pushes, as a courier sees them.
    static let courier = MetricGroup(
        "Courier", of: [.courier],
        [
            .gauge(
                "switchboard_courier_ready", "1 while connected to Redis and told of events.",
                mend: "0: the log says why; mostly Redis"),
            .counter(
                "switchboard_courier_questions_total", "Questions of gateways, by outcome.", by: ["outcome"],
                mend: "`failed`: look at the service"),
            .counter(
                "switchboard_courier_calls_total", "Calls of scripts, by outcome.", by: ["outcome"],
                mend: "`given_up`: look at the service, then retry by `POST /v1/dead-letters/retry`"),
            .gauge(
                "switchboard_courier_in_hand", "Questions and calls in hand.", mend: "high for long: a service is slow"),
            .counter(
                "switchboard_courier_service_requests_total", "Requests to a service.", by: ["service"],
                mend: "a jump: a script calls the service more often than meant"),
            .counter(
                "switchboard_courier_service_failures_total", "Requests to a service that failed.", by: ["service"],
                mend: "look at the service; the log has its answers"),
            .gauge(
                "switchboard_courier_service_open", "1 while a service is left alone for a while.", by: ["service"],
                mend: "1 for long: the service is down"),
            .counter(
                "switchboard_webhooks_sent_total", "Webhooks that a receiver took.", by: ["receiver"],
                mend: "stands still while events come: see `switchboard_webhooks_failed_total`"),
            .counter(
                "switchboard_webhooks_failed_total", "Attempts that failed, by reason.", by: ["receiver", "reason"],
                mend: "the log has a line for each failure"),
            .counter(
                "switchboard_webhooks_dead_total", "Events given up.", by: ["receiver"],
                mend: "mend the receiver, then retry by `POST /v1/dead-letters/retry`"),
            .counter(
                "switchboard_webhooks_gaps_total", "Gaps that a receiver got.", by: ["receiver"],
                mend: "give the namespace a longer `log`"),
            .gauge(
                "switchboard_webhook_topics_busy", "Topics in hand.", by: ["receiver"],
                mend: "at `webhookTopicsMax` for long: the receiver is too slow"),
            .gauge(
                "switchboard_webhook_topics_waiting", "Topics that wait.", by: ["receiver"],
                mend: "grows: the receiver is too slow"),
            .gauge(
                "switchboard_webhook_open", "1 while a receiver is away.", by: ["receiver"],
                mend: "1: the receiver is away"),
            .counter(
                "switchboard_pushes_total", "Pushes to a device, by what APNs said.", by: ["outcome"],
                mend: "`refused`: see the log for APNs' reason"),
            .counter(
                "switchboard_pushes_dropped_total", "Things that are pushed to no device any more, by reason.",
                by: ["reason"], mend: "`old` grows: APNs does not take pushes in time, see `switchboard_pushes_total`"),
            .counter("switchboard_pushes_held_total", "Things that wait for the end of quiet hours or of a session."),
            .counter(
                "switchboard_courier_key_set_fetches_total", "Fetches of the key set, by outcome.", by: ["outcome"],
                mend: "the log says why a fetch failed"),
            .gauge(
                "switchboard_courier_key_set_age_seconds", "Age of the last fetched key set; -1 before the first.",
                mend: "grows past an hour: the identity provider does not answer"),
        ])

    /// The process itself, its version and its clock.
    static let everyProcess = MetricGroup(
        "Every process", of: [.gateway, .worker, .courier],
        [
            .gauge(
                "switchboard_build_info", "1; the labels tell the version of this process, and the format of its data.",
                by: ["version", "format", "role"], mend: "several versions for long: an upgrade was not finished"),
            .gauge(
                "switchboard_nodes", "Processes that share this Redis, this one included.",
                by: ["kind", "version", "format"], mend: "fewer than you run: one of them is down"),
            .gauge(
                "switchboard_clock_offset_seconds", "How far this machine's clock is ahead of Redis's.",
                mend: "far from 0: `timedatectl set-ntp true`"),
            .counter(
                "switchboard_process_stalls_total", "Times the whole process stood still for two seconds or longer.",
                mend: "the process was stopped, the machine slept, or it had no processor time"),
            .counter(
                "switchboard_process_stall_milliseconds_total", "Milliseconds for which it stood still.",
                mend: "see `switchboard_process_stalls_total`"),
            .gauge(
                "process_start_time_seconds", "When the process started, seconds since 1970.",
                mend: "changes by itself: the process crashed; see its log"),
            .counter(
                "process_cpu_seconds_total", "Processor time of the process, in its own code and in the kernel.",
                mend: "near one core for each shard: add cores or nodes"),
            .gauge(
                "process_resident_memory_bytes", "Resident memory now.",
                mend: "grows for hours under steady load: report it"),
            .gauge("process_virtual_memory_bytes", "Address space of the process."),
            .gauge(
                "process_open_fds", "File descriptors open.",
                mend: "near `process_max_fds`: raise `LimitNOFILE` of the unit"),
            .gauge(
                "process_max_fds", "File descriptors that the process may open.",
                mend: "less than `connectionsMax` needs: raise `LimitNOFILE` of the unit"),
        ])
}
