/// The metrics of Redis and of other processes, as a gateway sees them.
extension MetricGroup {
    /// Events that backends emit to Redis, with `--bridge`.
    static let bridge = MetricGroup(
        "Socket.IO's emitters", of: [.gateway],
        [
            .counter(
                "switchboard_bridge_events_total", "Events of Socket.IO's emitters, once for each room.", by: ["fate"],
                mend: "`lost` grows: Redis refused them, or they waited for too long; see the log"),
            .counter(
                "switchboard_bridge_refused_total", "Events of Socket.IO's emitters that were refused.", by: ["reason"],
                mend: "the log names the room and the reason; the backend has to emit otherwise"),
            .gauge(
                "switchboard_bridge_holder", "1 while this node publishes them for all.",
                mend: "0 on all gateways for long: nobody publishes what emitters send, see the row `bridge`"),
            .gauge(
                "switchboard_bridge_waiting", "Of them, those that are not known to be published.",
                mend: "grows: Redis is slower than the backends emit"),
        ])

    /// Polls that other nodes own, and questions to services outside.
    static let neighbours = MetricGroup(
        "Polls between nodes, questions to services", of: [.gateway],
        [
            .counter(
                "switchboard_hops_total", "Polls that went to the node of their session, and that came from others.",
                by: ["way"], mend: "near all polls: the balancer sends a client's polls to any gateway"),
            .gauge(
                "switchboard_hops_waiting", "Polls that wait for another node.",
                mend: "for long: another gateway hangs, or Redis is slow"),
            .counter(
                "switchboard_hops_failed_total", "Polls that got lost between nodes.",
                mend: "a gateway hangs, or Redis is slow"),
            .counter(
                "switchboard_hops_refused_total",
                "Messages on the node's channel that no other node sent, or sent before.",
                mend: "somebody who is no gateway speaks on a gateway's channel: look at the users of Redis"),
            .counter(
                "switchboard_fleet_questions_total",
                "Questions over all nodes, by outcome; `declined` are other nodes' questions.", by: ["outcome"],
                mend: "`partial`: the answer names the nodes and the cause; `refused` and `declined`: ask less often"),
            .counter("switchboard_asks_total", "Questions to services outside."),
            .counter("switchboard_asks_shared_total", "Callers answered by a question that others asked."),
            .counter("switchboard_asks_kept_total", "Questions whose answers were kept."),
            .gauge(
                "switchboard_asks_waiting", "Questions that wait for a courier.",
                mend: "for long: the service or its courier is slow"),
            .counter(
                "switchboard_asks_failed_total", "Questions that got no answer, by reason.", by: ["reason"],
                mend: "`no_courier`: start one; `slow`, `failed` and `unreadable`: look at the service"),
            .counter(
                "switchboard_asks_stray_total", "Answers to questions that nobody asks, or no more.",
                mend: "couriers answer too late, or somebody who is none answers"),
        ])

    /// Links to Redis, and its masters.
    static let redis = MetricGroup(
        "Redis", of: [.gateway],
        [
            .counter(
                "switchboard_redis_commands_total", "Commands sent.",
                mend: "a jump: `GET /v1/talkers?sort=redisUs` names who causes them"),
            .counter(
                "switchboard_redis_rejected_total", "Commands not sent, too many being in flight.",
                mend: "Redis is slower than the calls: a larger server, or a Cluster"),
            .counter(
                "switchboard_redis_late_replies_total", "Replies that came after their deadline, and were swallowed.",
                mend: "Redis stalls: look at its `SLOWLOG` and `LATENCY`"),
            .counter("switchboard_redis_connects_total", "Links made.", mend: "grows: links break, see the log"),
            .histogram(
                "switchboard_redis_latency_seconds", "Time from a command to its reply.",
                mend: "Redis is busy or far away: its `SLOWLOG`, its processor, the network"),
            .counter(
                "switchboard_redis_failures_total", "Failures by kind.", by: ["kind"],
                mend: "the kind names the cause; [Publishing fails](troubleshooting.md#publishing-fails) has the mend"),
            .gauge(
                "switchboard_redis_probe_age_seconds", "Since a probe came back by the link that waits longest.",
                mend: "above twice `redisProbeMs`: events may not arrive"),
            .counter(
                "switchboard_redis_probe_failures_total", "Delivery probes that convicted links.", by: ["part"],
                mend: "links were made again; grows: look at the network and at Redis"),
            .counter(
                "switchboard_redis_resubscribes_total", "Times the subscription was made again.",
                mend: "grows: the subscription breaks; a slow shard, or `client-output-buffer-limit pubsub`"),
            .counter(
                "switchboard_redis_evicted_keys_total", "Keys that a master has evicted since its start.",
                by: ["address"], mend: "`maxmemory-policy noeviction`, then revoke again what was revoked lately"),
            .gauge(
                "switchboard_redis_may_evict", "1 for a master whose maxmemory-policy is not noeviction.",
                by: ["address"], mend: "`CONFIG SET maxmemory-policy noeviction`"),
            .gauge(
                "switchboard_redis_used_bytes", "Memory that a master uses.", by: ["address"],
                mend: "near `switchboard_redis_maxmemory_bytes`: raise `maxmemory`, or keep less"),
            .gauge(
                "switchboard_redis_maxmemory_bytes", "Memory that a master may use; 0 without a bound.",
                by: ["address"], mend: "0: Redis may take all memory of its machine; set `maxmemory`"),
            .gauge(
                "switchboard_redis_default_user_can_load",
                "1 for each master whose user `default` may load its append-only file, 0 where it may not.",
                by: ["address"], mend: "0: mend its ACL before that Redis restarts"),
            .gauge(
                "switchboard_redis_master", "1 for each master of now; none while none may be used.", by: ["address"],
                mend: "none: the Sentinels name no master that may be used"),
            .gauge(
                "switchboard_redis_master_ready",
                "1 for a master of a Cluster that every link is proven to deliver by.", by: ["address"],
                mend: "0: look at this master; its topics stand still"),
            .gauge(
                "switchboard_redis_master_slots", "Slots of a master of a Cluster.", by: ["address"],
                mend: "the sum on one gateway is below 16384: a master is away"),
            .counter(
                "switchboard_redis_master_commands_total", "Commands sent, by master of a Cluster.", by: ["address"],
                mend: "one far above the others: a hot topic, or slots badly shared"),
            .counter(
                "switchboard_redis_master_failures_total", "Failures, by master of a Cluster.", by: ["address"],
                mend: "look at this master"),
            .counter(
                "switchboard_redis_master_changes_total",
                "Masters, or histories, that another followed, by what became of epochs; on a Cluster as each shard's link saw it.",
                by: ["epochs"], mend: "`reset`: clients were told that they may have missed events"),
            .counter(
                "switchboard_redis_master_unknown_total", "Questions to the Sentinels that found no master to use.",
                mend: "look at the Sentinels"),
            .gauge(
                "switchboard_sentinels_configured", "Sentinels that have a vote.",
                mend: "less than 3: no majority is left when one is away"),
            .gauge(
                "switchboard_sentinels_answering", "Sentinels that answered last.",
                mend: "fewer than configured: start the one that is away"),
        ])

    /// The table of readiness, and the files that a gateway reads and writes.
    static let readiness = MetricGroup(
        "Readiness", of: [.gateway],
        [
            .gauge(
                "switchboard_ready",
                "Without a label: 1 while the node may be sent clients. By row: 1 while its promise holds.",
                by: ["row"], mend: "[the table of readiness](readiness.md) has cause and mend of each row"),
            .gauge("switchboard_workers_live", "Workers alive.", mend: "0: start a worker"),
            .gauge(
                "switchboard_couriers_live", "Couriers alive.",
                mend: "0 while scripts call services outside: start a courier"),
            .gauge(
                "switchboard_certificate_ends_seconds", "When the certificate ends, seconds since 1970.",
                mend: "less than 14 days from now: renew it, then reload with `SIGHUP`"),
            .counter(
                "switchboard_reloads_total", "Reloads of certificate and keys, taken or refused.", by: ["result"],
                mend: "`refused`: the node runs with old keys or an old certificate; the log says why"),
            .counter(
                "switchboard_log_lines_dropped_total", "Log lines dropped.",
                mend: "the reader of the log or the disk is too slow"),
            .counter(
                "switchboard_log_lines_left_out_total", "Lines about clients left out, too many a second being due.",
                mend: "raise `clientLinesPerSecond` to see them all"),
            .counter(
                "switchboard_access_log_lines_dropped_total", "Lines of the access log dropped.",
                mend: "the disk is too slow, or `logLinesMax` too small"),
        ])
}
