import Connections
import Core
import Reactors
import RedisLink
import Rights
public import Service

/// The node's figures in the text format of Prometheus, version 0.0.4.
///
/// No label takes a value from input.
public struct Metrics: Sendable {
    /// Counters of all threads.
    public let figures: NodeFigures
    /// The readiness table, and the age of the oldest proof.
    public let health: Health
    /// The numbers of open, unauthenticated and refused connections.
    public let admission: NodeAdmission
    /// Resident bytes at the last look.
    public let memory: MemoryWatch
    /// The numbers of refused calls.
    public let budgets: Budgets
    /// The current certificate, whose end is shown.
    public let gate: CallerGate
    /// The log, whose dropped lines are counted.
    public let log: Log
    /// The log of clients' troubles, whose sampled lines are counted.
    public let clientLog: ClientLog
    /// `nil` unless every request and connection is logged.
    public let accessLog: ClientAccess?

    /// The metrics of one node; `accessLog` is `nil` without an access log.
    public init(
        figures: NodeFigures, health: Health, admission: NodeAdmission, memory: MemoryWatch, budgets: Budgets,
        gate: CallerGate, log: Log, clientLog: ClientLog, accessLog: ClientAccess?
    ) {
        self.figures = figures
        self.health = health
        self.admission = admission
        self.memory = memory
        self.budgets = budgets
        self.gate = gate
        self.log = log
        self.clientLog = clientLog
        self.accessLog = accessLog
    }

    /// Renders all figures; reads other threads' counters, which may be a tick old.
    public func text() -> [UInt8] {
        var page = MetricsPage()
        connections(&page)
        delivery(&page)
        presence(&page)
        loops(&page)
        redis(&page)
        page.tell(figures.nodes.withLock { $0 })
        page.tell(figures.stalls)
        return page.bytes
    }

    private func connections(_ page: inout MetricsPage) {
        let transports = figures.shards.all.map(\.transport)
        let clients = admission.figures
        func sum(_ path: (TransportStatistics) -> Counter) -> Int { transports.reduce(0) { $0 + path($1).value } }
        page.gauge("switchboard_connections", "Client connections open.", clients.open)
        page.gauge("switchboard_connections_unauthenticated", "Of them, not established yet.", clients.unauthenticated)
        page.counter(
            "switchboard_connections_refused_total", "Connections over a limit, that of descriptors included.",
            clients.refused + sum(\.descriptorRefusals))
        page.counter("switchboard_connections_accepted_total", "Connections accepted.", sum(\.accepted))
        page.counter(
            "switchboard_accept_pauses_total", "Times accepting waited for handshakes.", sum(\.acceptPauses))
        page.counter("switchboard_accept_errors_total", "Accepts that failed.", sum(\.acceptErrors))
        page.gauge("switchboard_tls_handshakes_waiting", "Handshakes waiting for a turn.", sum(\.handshakesWaiting))
        page.gauge("switchboard_resident_bytes", "Resident memory, as last looked at.", memory.residentBytes)
        page.gauge(
            "switchboard_memory_short", "1 while nobody new is let in for want of memory.", memory.isShort ? 1 : 0)
        page.counter("switchboard_tls_handshakes_total", "TLS handshakes completed.", sum(\.handshakes))
        page.counter("switchboard_tls_handshakes_resumed_total", "Of them, abbreviated.", sum(\.handshakesResumed))
        page.counter("switchboard_bytes_received_total", "Bytes read, decrypted.", sum(\.bytesIn))
        page.counter("switchboard_bytes_sent_total", "Bytes written, before encryption.", sum(\.bytesOut))
        page.counter("switchboard_writes_total", "Writes, each carrying a tick's frames.", sum(\.writes))
        page.counter(
            "switchboard_events_ended_total", "Events handed to clients, by what became of them; the rest waits.",
            [
                ("fate", "written", sum(\.itemsWritten)), ("fate", "conflated", sum(\.itemsConflated)),
                ("fate", "dropped", sum(\.itemsDropped)),
            ])
        page.gauge("switchboard_queued_bytes", "Bytes waiting for clients.", sum(\.queuedBytes))
        var closed: [CloseReason: Int] = [:]
        for transport in transports {
            for (reason, count) in transport.closedByReason { closed[reason, default: 0] += count }
        }
        page.counter(
            "switchboard_connections_closed_total", "Connections ended, by reason.",
            CloseReason.allCases.map { ("reason", $0.rawValue, closed[$0] ?? 0) })
    }

    /// The sum of one counter of all shards.
    private func sum(_ path: (ShardStatistics) -> Counter) -> Int {
        figures.shards.all.reduce(0) { $0 + path($1).value }
    }

    private func delivery(_ page: inout MetricsPage) {
        page.gauge("switchboard_sessions", "Sessions open.", sum(\.sessions))
        page.gauge("switchboard_polling_sessions", "Of them, those whose clients poll.", sum(\.pollingSessions))
        page.counter(
            "switchboard_polls_handed_over_total", "Polls that came to another shard than their session's.",
            sum(\.pollsHandedOver))
        page.counter(
            "switchboard_connections_moved_total", "Connections given to the shard of their session.",
            sum(\.connectionsMoved))
        relay(&page)
        asks(&page)
        bridge(&page)
        page.gauge("switchboard_subscriptions", "Live subscriptions.", sum(\.subscriptions))
        page.gauge("switchboard_topics", "Topics held by shards.", sum(\.topics))
        page.counter("switchboard_events_total", "Events that came for topics with members.", sum(\.events))
        page.counter(
            "switchboard_encodings_total", "Events written for clients, once for each encoding.", sum(\.encodings))
        page.counter(
            "switchboard_deflated_total", "Events and answers deflated, once for all who get them.", sum(\.deflated))
        page.counter(
            "switchboard_deflate_bytes_total", "Their bytes, before and after.",
            [("when", "before", sum(\.deflateBytesIn)), ("when", "after", sum(\.deflateBytesOut))])
        page.counter("switchboard_inflated_total", "Messages of clients inflated.", sum(\.inflated))
        page.counter(
            "switchboard_inflate_bytes_total", "Their bytes, before and after.",
            [("when", "before", sum(\.inflateBytesIn)), ("when", "after", sum(\.inflateBytesOut))])
        page.counter("switchboard_deliveries_total", "Events handed to members.", sum(\.deliveries))
        page.counter("switchboard_recovered_total", "Events given to returning clients.", sum(\.recovered))
        page.counter("switchboard_repaired_total", "Events fetched to close a hole.", sum(\.repaired))
        page.counter("switchboard_gaps_total", "Holes that were told.", sum(\.gaps))
        page.counter("switchboard_messages_received_total", "Messages of clients.", sum(\.messagesIn))
        page.counter("switchboard_http_requests_total", "HTTP requests answered.", sum(\.requests))
        page.counter(
            "switchboard_publishes_total", "Publishes committed, by the door they came through.",
            [("door", "http", sum(\.httpPublishes)), ("door", "websocket", sum(\.webSocketPublishes))])
        page.counter("switchboard_commands_total", "Commands whose script was called.", sum(\.commands))
        page.counter(
            "switchboard_commands_refused_total", "Commands refused, by the gateway or their script.",
            sum(\.commandsRefused))
        page.counter(
            "switchboard_command_faults_total", "Calls that failed because of a script or its data.",
            sum(\.commandFaults))
        page.counter("switchboard_rate_limited_total", "Refused for their rate.", sum(\.rateLimited))
        page.counter(
            "switchboard_budget_refusals_total", "Calls refused for what they would cost Redis, by payer and reason.",
            budgets.refused.map { ("payer", "\($0.kind.rawValue)\",reason=\"\($0.reason.rawValue)", $0.count) })
        page.gauge("switchboard_reads_waiting", "Reads that wait for their turn.", sum(\.readsWaiting))
        page.counter(
            "switchboard_reads_shared_total", "Callers answered by a read that others waited for, too.",
            sum(\.readsShared))
        page.counter("switchboard_rate_warnings_total", "Clients warned of their rate.", sum(\.rateWarnings))
        page.counter(
            "switchboard_rate_delays_total", "Times a client that sent too fast was read later.", sum(\.rateDelays))
        page.counter("switchboard_authentication_failures_total", "Credentials refused.", sum(\.authenticationFailures))
        page.counter("switchboard_channel_messages_total", "Messages on channels.", sum(\.channelMessages))
        page.counter(
            "switchboard_channel_messages_refused_total", "Of them, malformed or of a reserved name, and dropped.",
            sum(\.channelMessagesRefused))
        page.counter(
            "switchboard_mailbox_overflows_total", "Times a shard fell behind.", figures.bus.mailboxOverflows.value)
        page.counter(
            "switchboard_reloads_total", "Reloads of certificate and keys, taken or refused.",
            [("result", "ok", figures.reloads.done.value), ("result", "refused", figures.reloads.refused.value)])
        log(&page)
    }

    private func log(_ page: inout MetricsPage) {
        page.counter(
            "switchboard_origins_refused_total", "Connections refused to pages of foreign origins.",
            sum(\.originsRefused))
        page.counter(
            "switchboard_upgrades_missing_total", "Requests to a path of WebSockets without an upgrade.",
            sum(\.upgradesMissing))
        page.counter("switchboard_log_lines_dropped_total", "Log lines dropped.", log.dropped)
        page.counter(
            "switchboard_log_lines_left_out_total", "Lines about clients left out, too many a second being due.",
            clientLog.leftOut.value)
        page.counter(
            "switchboard_access_log_lines_dropped_total", "Lines of the access log dropped.",
            accessLog?.log.dropped ?? 0)
    }

    private func relay(_ page: inout MetricsPage) {
        page.counter(
            "switchboard_hops_total", "Polls that went to the node of their session, and that came from others.",
            [("way", "out", sum(\.relay)), ("way", "in", sum(\.relaysTaken))])
        page.gauge("switchboard_hops_waiting", "Polls that wait for another node.", sum(\.relaysWaiting))
        page.counter("switchboard_hops_failed_total", "Polls that got lost between nodes.", sum(\.relaysFailed))
        page.counter(
            "switchboard_hops_refused_total", "Messages on the node's channel that no other node sent, or sent before.",
            sum(\.relaysRefused))
    }

    private func asks(_ page: inout MetricsPage) {
        page.counter("switchboard_asks_total", "Questions to services outside.", sum(\.asks))
        page.counter(
            "switchboard_asks_shared_total", "Callers answered by a question that others asked.", sum(\.asksShared))
        page.counter("switchboard_asks_kept_total", "Questions whose answers were kept.", sum(\.asksKept))
        page.gauge("switchboard_asks_waiting", "Questions that wait for a courier.", sum(\.asksWaiting))
        page.counter(
            "switchboard_asks_failed_total", "Questions that got no answer, by reason.",
            [
                ("reason", "no_courier", sum(\.asksWithoutCourier)), ("reason", "slow", sum(\.asksSlow)),
                ("reason", "failed", sum(\.asksFailed)), ("reason", "unreadable", sum(\.asksUnreadable)),
            ])
        page.counter(
            "switchboard_asks_stray_total", "Answers to questions that nobody asks, or no more.", sum(\.asksStray))
    }

    private func bridge(_ page: inout MetricsPage) {
        let bridge = figures.bridge
        page.counter(
            "switchboard_bridge_events_total", "Events of Socket.IO's emitters, once for each room.",
            [
                ("fate", "published", bridge.published.value), ("fate", "repeated", bridge.repeated.value),
                ("fate", "lost", bridge.lost.value),
            ])
        page.counter(
            "switchboard_bridge_refused_total", "Events of Socket.IO's emitters that were refused.",
            bridge.refusedByReason)
        page.gauge("switchboard_bridge_holder", "1 while this node publishes them for all.", bridge.holder.value)
        page.gauge(
            "switchboard_bridge_waiting", "Of them, those that are not known to be published.", bridge.waiting.value)
    }

    private func presence(_ page: inout MetricsPage) {
        page.gauge("switchboard_presence", "Sessions listed on topics, by topic.", sum(\.presenceTracked))
        page.counter(
            "switchboard_presence_writes_total", "Calls that told Redis who came and left.", sum(\.presenceWrites))
        page.counter("switchboard_presence_reads_total", "Times a topic's presence was read.", sum(\.presenceReads))
        page.counter(
            "switchboard_presence_changes_total", "Changes told to clients, once for all of a topic.",
            sum(\.presenceChanges))
    }

    private func loops(_ page: inout MetricsPage) {
        let loops = figures.shards.all.map(\.loop)
        var counts = Array(repeating: 0, count: LoopStatistics.boundsUs.count + 1)
        for loop in loops {
            for (index, count) in loop.histogram.enumerated() { counts[index] += count }
        }
        page.histogram(
            "switchboard_loop_lag_seconds", "Time a tick of a shard takes: what an event may wait behind others.",
            boundsUs: LoopStatistics.boundsUs, counts: counts, sumUs: loops.reduce(0) { $0 + $1.busyUs.value })
    }

    private func redis(_ page: inout MetricsPage) {
        let links = figures.redis.all + figures.masters.links.flatMap(\.links)
        page.counter("switchboard_redis_commands_total", "Commands sent.", links.reduce(0) { $0 + $1.sent.value })
        page.counter(
            "switchboard_redis_rejected_total", "Commands not sent, too many being in flight.",
            links.reduce(0) { $0 + $1.rejected.value })
        page.counter(
            "switchboard_redis_late_replies_total", "Replies that came after their deadline, and were swallowed.",
            links.reduce(0) { $0 + $1.late.value })
        page.counter("switchboard_redis_connects_total", "Links made.", links.reduce(0) { $0 + $1.connects.value })
        let bus = figures.bus
        page.counter(
            "switchboard_redis_probe_failures_total", "Delivery probes that convicted links.",
            [
                ("part", "subscriber", bus.probesLostBySubscriber.value),
                ("part", "shard", bus.probesLostByShards.value), ("part", "mismatch", bus.mismatches.value),
                ("part", "demoted", bus.demotions.value),
            ])
        page.counter(
            "switchboard_redis_resubscribes_total", "Times the subscription was made again.", bus.resubscribes.value)
        masters(&page)
        if let ageMs = health.probeAgeMs(nowMs: Clock.monotonicMs()) {
            page.gauge(
                "switchboard_redis_probe_age_seconds", "Since a probe came back by the link that waits longest.",
                milliseconds: ageMs)
        }
        readiness(&page)
        var failures: [RedisFailure.Kind: Int] = [:]
        var counts = Array(repeating: 0, count: RedisStatistics.boundsUs.count + 1)
        for link in links {
            for (kind, count) in link.failuresByKind { failures[kind, default: 0] += count }
            for (index, count) in link.histogram.enumerated() { counts[index] += count }
        }
        page.counter(
            "switchboard_redis_failures_total", "Failures by kind.",
            RedisFailure.Kind.allCases.map { ("kind", $0.rawValue, failures[$0] ?? 0) })
        page.histogram(
            "switchboard_redis_latency_seconds", "Time from a command to its reply.",
            boundsUs: RedisStatistics.boundsUs, counts: counts, sumUs: links.reduce(0) { $0 + $1.latencyUs.value })
    }
}
