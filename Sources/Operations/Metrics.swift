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
        page.histogram("switchboard_loop_lag_seconds", figures.shards.all.map(\.loop.durations))
        namespaces(&page)
        answers(&page)
        limits(&page)
        redis(&page)
        page.tell(figures.nodes.withLock { $0 })
        page.tell(figures.stalls)
        page.tellProcess()
        return page.bytes
    }

    private func connections(_ page: inout MetricsPage) {
        let transports = figures.shards.all.map(\.transport)
        let clients = admission.figures
        func sum(_ path: (TransportStatistics) -> Counter) -> Int { transports.reduce(0) { $0 + path($1).value } }
        page.gauge("switchboard_connections", clients.open)
        page.gauge("switchboard_connections_unauthenticated", clients.unauthenticated)
        page.counter("switchboard_connections_refused_total", clients.refused + sum(\.descriptorRefusals))
        page.counter("switchboard_connections_accepted_total", sum(\.accepted))
        page.counter("switchboard_accept_pauses_total", sum(\.acceptPauses))
        page.counter("switchboard_accept_errors_total", sum(\.acceptErrors))
        page.gauge("switchboard_tls_handshakes_waiting", sum(\.handshakesWaiting))
        page.gauge("switchboard_resident_bytes", memory.residentBytes)
        page.gauge("switchboard_memory_short", memory.isShort ? 1 : 0)
        page.counter("switchboard_tls_handshakes_total", sum(\.handshakes))
        page.counter("switchboard_tls_handshakes_resumed_total", sum(\.handshakesResumed))
        page.counter("switchboard_bytes_received_total", sum(\.bytesIn))
        page.counter("switchboard_bytes_sent_total", sum(\.bytesOut))
        page.counter("switchboard_writes_total", sum(\.writes))
        page.counter(
            "switchboard_events_ended_total",
            [
                ("fate", "written", sum(\.itemsWritten)), ("fate", "conflated", sum(\.itemsConflated)),
                ("fate", "dropped", sum(\.itemsDropped)),
            ])
        page.gauge("switchboard_queued_bytes", sum(\.queuedBytes))
        var closed: [CloseReason: Int] = [:]
        for transport in transports {
            for (reason, count) in transport.closedByReason { closed[reason, default: 0] += count }
        }
        page.counter(
            "switchboard_connections_closed_total",
            CloseReason.allCases.map { ("reason", $0.rawValue, closed[$0] ?? 0) })
    }

    /// The sum of one counter of all shards.
    private func sum(_ path: (ShardStatistics) -> Counter) -> Int {
        figures.shards.all.reduce(0) { $0 + path($1).value }
    }

    private func delivery(_ page: inout MetricsPage) {
        page.gauge("switchboard_sessions", sum(\.sessions))
        page.gauge("switchboard_polling_sessions", sum(\.pollingSessions))
        page.counter("switchboard_polls_handed_over_total", sum(\.pollsHandedOver))
        page.counter("switchboard_connections_moved_total", sum(\.connectionsMoved))
        relay(&page)
        asks(&page)
        bridge(&page)
        page.gauge("switchboard_subscriptions", sum(\.subscriptions))
        page.gauge("switchboard_topics", sum(\.topics))
        page.counter("switchboard_events_total", sum(\.events))
        page.counter("switchboard_encodings_total", sum(\.encodings))
        page.counter("switchboard_deflated_total", sum(\.deflated))
        page.counter(
            "switchboard_deflate_bytes_total",
            [("when", "before", sum(\.deflateBytesIn)), ("when", "after", sum(\.deflateBytesOut))])
        page.counter("switchboard_inflated_total", sum(\.inflated))
        page.counter(
            "switchboard_inflate_bytes_total",
            [("when", "before", sum(\.inflateBytesIn)), ("when", "after", sum(\.inflateBytesOut))])
        page.counter("switchboard_deliveries_total", sum(\.deliveries))
        page.counter("switchboard_recovered_total", sum(\.recovered))
        page.counter("switchboard_repaired_total", sum(\.repaired))
        page.counter("switchboard_gaps_total", sum(\.gaps))
        page.counter("switchboard_conflation_gaps_total", sum(\.conflationGaps))
        page.counter("switchboard_messages_received_total", sum(\.messagesIn))
        page.counter("switchboard_http_requests_total", sum(\.requests))
        page.counter(
            "switchboard_publishes_total",
            [("door", "http", sum(\.httpPublishes)), ("door", "websocket", sum(\.webSocketPublishes))])
        page.counter("switchboard_commands_total", sum(\.commands))
        page.counter("switchboard_commands_refused_total", sum(\.commandsRefused))
        page.counter("switchboard_command_faults_total", sum(\.commandFaults))
        page.counter("switchboard_rate_limited_total", sum(\.rateLimited))
        page.counter(
            "switchboard_budget_refusals_total",
            budgets.refused.map { ("payer", "\($0.kind.rawValue)\",reason=\"\($0.reason.rawValue)", $0.count) })
        page.gauge("switchboard_reads_waiting", sum(\.readsWaiting))
        page.counter("switchboard_reads_shared_total", sum(\.readsShared))
        page.counter("switchboard_rate_warnings_total", sum(\.rateWarnings))
        page.counter("switchboard_rate_delays_total", sum(\.rateDelays))
        page.counter("switchboard_authentication_failures_total", sum(\.authenticationFailures))
        page.counter("switchboard_channel_messages_total", sum(\.channelMessages))
        page.counter("switchboard_channel_messages_refused_total", sum(\.channelMessagesRefused))
        page.counter("switchboard_mailbox_overflows_total", figures.bus.mailboxOverflows.value)
        page.counter(
            "switchboard_reloads_total",
            [("result", "ok", figures.reloads.done.value), ("result", "refused", figures.reloads.refused.value)])
        log(&page)
    }

    private func log(_ page: inout MetricsPage) {
        page.counter("switchboard_origins_refused_total", sum(\.originsRefused))
        page.counter("switchboard_upgrades_missing_total", sum(\.upgradesMissing))
        page.counter("switchboard_log_lines_dropped_total", log.dropped)
        page.counter("switchboard_log_lines_left_out_total", clientLog.leftOut.value)
        page.counter("switchboard_access_log_lines_dropped_total", accessLog?.log.dropped ?? 0)
    }

    private func relay(_ page: inout MetricsPage) {
        page.counter("switchboard_hops_total", [("way", "out", sum(\.relay)), ("way", "in", sum(\.relaysTaken))])
        page.gauge("switchboard_hops_waiting", sum(\.relaysWaiting))
        page.counter("switchboard_hops_failed_total", sum(\.relaysFailed))
        page.counter("switchboard_hops_refused_total", sum(\.relaysRefused))
        page.counter(
            "switchboard_fleet_questions_total",
            [
                ("outcome", "whole", sum(\.fleetWhole)), ("outcome", "partial", sum(\.fleetPartial)),
                ("outcome", "shared", sum(\.fleetShared)), ("outcome", "refused", sum(\.fleetRefused)),
                ("outcome", "declined", sum(\.fleetDeclined)),
            ])
    }

    private func asks(_ page: inout MetricsPage) {
        page.counter("switchboard_asks_total", sum(\.asks))
        page.counter("switchboard_asks_shared_total", sum(\.asksShared))
        page.counter("switchboard_asks_kept_total", sum(\.asksKept))
        page.gauge("switchboard_asks_waiting", sum(\.asksWaiting))
        page.counter(
            "switchboard_asks_failed_total",
            [
                ("reason", "no_courier", sum(\.asksWithoutCourier)), ("reason", "slow", sum(\.asksSlow)),
                ("reason", "failed", sum(\.asksFailed)), ("reason", "unreadable", sum(\.asksUnreadable)),
            ])
        page.counter("switchboard_asks_stray_total", sum(\.asksStray))
    }

    private func bridge(_ page: inout MetricsPage) {
        let bridge = figures.bridge
        page.counter(
            "switchboard_bridge_events_total",
            [
                ("fate", "published", bridge.published.value), ("fate", "repeated", bridge.repeated.value),
                ("fate", "lost", bridge.lost.value),
            ])
        page.counter("switchboard_bridge_refused_total", bridge.refusedByReason)
        page.gauge("switchboard_bridge_holder", bridge.holder.value)
        page.gauge("switchboard_bridge_waiting", bridge.waiting.value)
    }

    private func presence(_ page: inout MetricsPage) {
        page.gauge("switchboard_presence", sum(\.presenceTracked))
        page.counter("switchboard_presence_writes_total", sum(\.presenceWrites))
        page.counter("switchboard_presence_reads_total", sum(\.presenceReads))
        page.counter("switchboard_presence_changes_total", sum(\.presenceChanges))
    }

    private func redis(_ page: inout MetricsPage) {
        let links = figures.redis.all + figures.masters.links.flatMap(\.links)
        page.counter("switchboard_redis_commands_total", links.reduce(0) { $0 + $1.sent.value })
        page.counter("switchboard_redis_rejected_total", links.reduce(0) { $0 + $1.rejected.value })
        page.counter("switchboard_redis_late_replies_total", links.reduce(0) { $0 + $1.late.value })
        page.counter("switchboard_redis_connects_total", links.reduce(0) { $0 + $1.connects.value })
        let bus = figures.bus
        page.counter(
            "switchboard_redis_probe_failures_total",
            [
                ("part", "subscriber", bus.probesLostBySubscriber.value),
                ("part", "shard", bus.probesLostByShards.value), ("part", "mismatch", bus.mismatches.value),
                ("part", "demoted", bus.demotions.value),
            ])
        page.counter("switchboard_redis_resubscribes_total", bus.resubscribes.value)
        masters(&page)
        if let ageMs = health.probeAgeMs(nowMs: Clock.monotonicMs()) {
            page.gauge("switchboard_redis_probe_age_seconds", milliseconds: ageMs)
        }
        readiness(&page)
        var failures: [RedisFailure.Kind: Int] = [:]
        for link in links {
            for (kind, count) in link.failuresByKind { failures[kind, default: 0] += count }
        }
        page.counter(
            "switchboard_redis_failures_total",
            RedisFailure.Kind.allCases.map { ("kind", $0.rawValue, failures[$0] ?? 0) })
        page.histogram("switchboard_redis_latency_seconds", links.map(\.latencies))
    }
}
