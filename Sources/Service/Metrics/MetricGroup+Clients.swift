/// The metrics of connections, delivery and requests.
extension MetricGroup {
    /// Connections of clients, and the queues to them.
    static let connections = MetricGroup(
        "Connections", of: [.gateway],
        [
            .gauge(
                "switchboard_connections", "Client connections open.",
                mend: "compare with `switchboard_limit{name=\"connectionsMax\"}`; add a node before it is reached"),
            .gauge(
                "switchboard_connections_unauthenticated", "Of them, not established yet.",
                mend: "many for long: clients that open connections and say nothing"),
            .counter(
                "switchboard_connections_refused_total", "Connections over a limit, that of descriptors included.",
                mend: "find the limit: `connectionsMax`, `connectionsPerAddressMax`, descriptors or memory"),
            .counter(
                "switchboard_connections_accepted_total", "Connections accepted.",
                mend: "a jump without new users: clients reconnect, see the reasons of the closes"),
            .counter(
                "switchboard_accept_pauses_total", "Times accepting waited for handshakes.",
                mend: "a herd of clients connects; nothing, unless it lasts"),
            .counter(
                "switchboard_accept_errors_total", "Accepts that failed.", mend: "see the log; mostly descriptors"),
            .gauge(
                "switchboard_tls_handshakes_waiting", "Handshakes waiting for a turn.",
                mend: "for long: the processor is too slow for so many new connections"),
            .counter(
                "switchboard_tls_handshakes_total", "TLS handshakes completed.",
                mend: "a jump without new users: clients reconnect, see the reasons of the closes"),
            .counter(
                "switchboard_tls_handshakes_resumed_total", "Of them, abbreviated.",
                mend: "near 0 after a restart: give all nodes the same `--tls-ticket-key-file`"),
            .counter(
                "switchboard_connections_closed_total", "Connections ended, by reason.", by: ["reason"],
                mend: "[the close codes](protocol.md#close-codes) say what each reason means"),
            .counter(
                "switchboard_bytes_received_total", "Bytes read, decrypted.",
                mend: "a jump: `GET /v1/talkers?sort=bytes` names who sends it"),
            .counter(
                "switchboard_bytes_sent_total", "Bytes written, before encryption.",
                mend: "near the bandwidth of the machine: add a node, or let clients deflate"),
            .counter("switchboard_writes_total", "Writes, each carrying a tick's frames."),
            .counter(
                "switchboard_events_ended_total", "Events handed to clients, by what became of them; the rest waits.",
                by: ["fate"], mend: "`dropped` and `conflated` grow: clients read too slowly"),
            .gauge(
                "switchboard_queued_bytes", "Bytes waiting for clients.",
                mend: "grows: clients or the network are slower than the events"),
            .gauge(
                "switchboard_resident_bytes", "Resident memory, as last looked at.",
                mend: "compare with `switchboard_limit{name=\"memoryBytesMax\"}`"),
            .gauge(
                "switchboard_memory_short", "1 while nobody new is let in for want of memory.",
                mend: "give the gateway more memory, or add a node"),
        ])

    /// Sessions, and the way of events to them.
    static let delivery = MetricGroup(
        "Sessions and delivery", of: [.gateway],
        [
            .gauge(
                "switchboard_sessions", "Sessions open.",
                mend: "falls at once: connections ended, see the reasons of the closes"),
            .gauge(
                "switchboard_polling_sessions", "Of them, those whose clients poll.",
                mend: "most sessions: WebSockets do not get through, see the proxy in front"),
            .counter(
                "switchboard_polls_handed_over_total", "Polls that came to another shard than their session's.",
                mend: "many: the balancer does not keep clients on one connection"),
            .counter("switchboard_connections_moved_total", "Connections given to the shard of their session."),
            .gauge(
                "switchboard_subscriptions", "Live subscriptions.",
                mend: "many for each session: an app subscribes to more than it shows"),
            .gauge(
                "switchboard_topics", "Topics held by shards.",
                mend: "grows while sessions do not: clients subscribe to ever new topics, and each costs memory"),
            .counter(
                "switchboard_events_total", "Events that came for topics with members.",
                mend: "stands still while backends publish: see `switchboard_redis_probe_age_seconds`"),
            .counter(
                "switchboard_deliveries_total", "Events handed to members.",
                mend: "stands still while events come: see `switchboard_queued_bytes` and the loop's lag"),
            .histogram(
                "switchboard_delivery_latency_seconds",
                "From reading a publish on this node until a shard has written its event to the last member; at most 20 publishes a second are timed.",
                mend:
                    "`switchboard_redis_latency_seconds` or `switchboard_loop_lag_seconds` has the time. Events of commands and publishes of other nodes are not timed"
            ),
            .counter(
                "switchboard_namespace_publishes_total",
                "Events published through this node and stored by Redis, by namespace; those of commands are not counted.",
                by: ["namespace"], mend: "shows which app publishes"),
            .counter(
                "switchboard_namespace_events_total", "Events that came for topics with members, by namespace.",
                by: ["namespace"], mend: "shows which app receives"),
            .counter(
                "switchboard_namespace_deliveries_total", "Events handed to members, by namespace.", by: ["namespace"],
                mend: "shows which app the fan-out is for"),
            .counter("switchboard_encodings_total", "Events written for clients, once for each encoding."),
            .counter("switchboard_deflated_total", "Events and answers deflated, once for all who get them."),
            .counter(
                "switchboard_deflate_bytes_total", "Their bytes, before and after.", by: ["when"],
                mend: "`after` near `before`: messages do not compress; raise `--deflate-min-bytes`"),
            .counter("switchboard_inflated_total", "Messages of clients inflated."),
            .counter(
                "switchboard_inflate_bytes_total", "Their bytes, before and after.", by: ["when"],
                mend: "`after` a hundred times `before`: a client sends what only deflates well; see the talkers"),
            .counter(
                "switchboard_recovered_total", "Events given to returning clients.",
                mend: "a jump: many clients came back at once, see the reasons of the closes"),
            .counter(
                "switchboard_repaired_total", "Events fetched to close a hole.",
                mend: "often: a link to Redis loses events, see `switchboard_redis_resubscribes_total`"),
            .counter(
                "switchboard_gaps_total", "Holes that were told, but for those of conflation.",
                mend: "a log is too short for how long clients are away, or Redis lost data"),
            .counter(
                "switchboard_conflation_gaps_total",
                "Holes told to clients that read too slowly, in namespaces that want conflation.",
                mend: "grows fast: clients read too slowly; fewer topics for each client, or fewer events"),
            .counter(
                "switchboard_messages_received_total", "Messages of clients.",
                mend: "a jump: `GET /v1/talkers?sort=events` names who sends them"),
            .counter("switchboard_channel_messages_total", "Messages on channels."),
            .counter(
                "switchboard_channel_messages_refused_total", "Of them, malformed or of a reserved name, and dropped.",
                mend: "a backend publishes malformed messages straight into Redis; the log says on which topic"),
            .histogram(
                "switchboard_loop_lag_seconds", "Time a tick of a shard takes: what an event may wait behind others.",
                mend: "high for long: too few cores, or a fan-out too large for a tick"),
            .counter(
                "switchboard_mailbox_overflows_total", "Times a shard fell behind.",
                mend: "a shard is overloaded: more cores or nodes"),
            .gauge(
                "switchboard_presence", "Sessions listed on topics, by topic.",
                mend: "falls at once: connections ended, see the reasons of the closes"),
            .counter(
                "switchboard_presence_writes_total", "Calls that told Redis who came and left.",
                mend: "many for few sessions: connections come and go, see the reasons of the closes"),
            .counter(
                "switchboard_presence_reads_total", "Times a topic's presence was read.",
                mend: "as many as requests: clients ask again and again in place of subscribing"),
            .counter(
                "switchboard_presence_changes_total", "Changes told to clients, once for all of a topic.",
                mend: "many for few sessions: connections come and go, see the reasons of the closes"),
        ])

    /// Publishes, HTTP requests and commands, and refusals.
    static let requests = MetricGroup(
        "Publishes, requests and commands", of: [.gateway],
        [
            .counter(
                "switchboard_publishes_total", "Publishes committed, by the door they came through.", by: ["door"],
                mend: "stands still while backends publish: see the 5xx of `switchboard_http_responses_total`"),
            .counter(
                "switchboard_http_requests_total", "HTTP requests answered.",
                mend: "a jump: `GET /v1/talkers` names who asks"),
            .counter(
                "switchboard_http_responses_total",
                "Answers to HTTP requests, by route and class of status; 4xx has clients that left before the answer, too.",
                by: ["method", "route", "status"], mend: "5xx: see the line `a request failed`; 429 and 401 are 4xx"),
            .counter(
                "switchboard_commands_total", "Commands whose script was called.",
                mend: "a jump: `GET /v1/talkers?sort=redisUs` names who calls"),
            .counter(
                "switchboard_commands_refused_total", "Commands refused, by the gateway or their script.",
                mend: "a jump: a client calls what it may not, or sends wrong arguments"),
            .counter(
                "switchboard_command_faults_total", "Calls that failed because of a script or its data.",
                mend: "the line `a script failed` has file and line"),
            .counter(
                "switchboard_rate_limited_total", "Refused for their rate.", mend: "the log of the clients names them"),
            .counter(
                "switchboard_rate_warnings_total", "Clients warned of their rate.",
                mend: "the log of the clients names them"),
            .counter(
                "switchboard_rate_delays_total", "Times a client that sent too fast was read later.",
                mend: "the log of the clients names them"),
            .counter(
                "switchboard_budget_refusals_total",
                "Calls refused for what they would cost Redis, by payer and reason.", by: ["payer", "reason"],
                mend: "somebody costs Redis more than [the budgets](limits-load.md#budgets) allow"),
            .gauge(
                "switchboard_reads_waiting", "Reads that wait for their turn.",
                mend: "for long: many clients return at once, or Redis is slow"),
            .counter("switchboard_reads_shared_total", "Callers answered by a read that others waited for, too."),
            .counter(
                "switchboard_authentication_failures_total", "Credentials refused.",
                mend: "a key or a token has ended, or somebody tries them; the log has address and reason"),
            .counter(
                "switchboard_origins_refused_total", "Connections refused to pages of foreign origins.",
                mend: "name the origin by `--allow-origin`, or ask whose page it is; the log has it"),
            .counter(
                "switchboard_upgrades_missing_total", "Requests to a path of WebSockets without an upgrade.",
                mend: "a proxy drops `Upgrade`: see `deploy/nginx-http.conf`"),
            .gauge(
                "switchboard_limit",
                "The limits of this process, by name; memoryBytesMax is the bound that it works by.", by: ["name"],
                mend: "[limits](limits.md) says what each bounds"),
        ])
}
