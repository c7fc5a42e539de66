import Core
import HTTPCodec
import Push
import Service

/// The state of a courier, for `/livez`, `/readyz` and `/metrics`.
///
/// A value: the courier fills it in for each request.
struct CourierReport {
    /// One receiver of webhooks.
    struct Receiver {
        let name: String
        let counts: WebhookLane.Counts
        let busy: Int
        let waiting: Int
        let isOpen: Bool
    }

    /// Whether it is connected and receives events.
    var isReady = false
    /// The reason why there is no connection; empty while there is one.
    var trouble = ""
    /// Questions answered and failed.
    var questions = (answered: 0, failed: 0)
    /// Calls answered and given up.
    var calls = (answered: 0, given: 0)
    /// Questions and calls in hand.
    var held = 0
    /// The requests to each service.
    var services: [(name: String, requests: Int, failures: Int, isOpen: Bool)] = []
    /// The results of pushes; `nil` when none are sent.
    var push: PushService.Counts?
    /// The fetches of a key set, and the milliseconds since the last good one; `nil` when none is fetched.
    var keySet: (counts: [KeySetFetcher.Outcome: Int], ageMs: Int?)?
    /// The times for which the whole process was suspended.
    let stalls: ProcessStalls
    /// The clock, and the other processes.
    var nodes: NodeBook?
    /// The webhooks to each receiver.
    var receivers: [Receiver] = []

    /// The answer to a request.
    func response(to head: HTTPRequestHead) -> HTTPResponse {
        OperationsAnswer.response(to: head, isReady: isReady, trouble: trouble, metrics: metrics)
    }

    private var metrics: [UInt8] {
        var page = MetricsPage()
        page.gauge("switchboard_courier_ready", isReady ? 1 : 0)
        page.counter(
            "switchboard_courier_questions_total",
            [("outcome", "answered", questions.answered), ("outcome", "failed", questions.failed)])
        page.counter(
            "switchboard_courier_calls_total",
            [("outcome", "answered", calls.answered), ("outcome", "given_up", calls.given)])
        page.gauge("switchboard_courier_in_hand", held)
        if !services.isEmpty {
            page.counter(
                "switchboard_courier_service_requests_total", services.map { ("service", $0.name, $0.requests) })
            page.counter(
                "switchboard_courier_service_failures_total", services.map { ("service", $0.name, $0.failures) })
            page.gauge("switchboard_courier_service_open", services.map { ("service", $0.name, $0.isOpen ? 1 : 0) })
        }
        if let push { tell(push, &page) }
        if let keySet {
            page.counter(
                "switchboard_courier_key_set_fetches_total",
                KeySetFetcher.Outcome.allCases.map { ("outcome", $0.rawValue, keySet.counts[$0] ?? 0) })
            page.gauge("switchboard_courier_key_set_age_seconds", keySet.ageMs.map { $0 / 1_000 } ?? -1)
        }
        if !receivers.isEmpty { tellReceivers(&page) }
        if let nodes { page.tell(nodes) }
        page.tell(stalls)
        page.tellProcess()
        return page.bytes
    }

    private func tell(_ push: PushService.Counts, _ page: inout MetricsPage) {
        page.counter("switchboard_pushes_total", PushService.labels.map { ("outcome", $0, push.pushes[$0] ?? 0) })
        page.counter(
            "switchboard_pushes_dropped_total",
            PushDecision.Reason.allCases.map { ("reason", $0.rawValue, push.dropped[$0] ?? 0) })
        page.counter("switchboard_pushes_held_total", push.held)
    }

    private func tellReceivers(_ page: inout MetricsPage) {
        func each(_ figure: (Receiver) -> Int) -> [(label: String, value: String, count: Int)] {
            receivers.map { ("receiver", $0.name, figure($0)) }
        }
        page.counter("switchboard_webhooks_sent_total", each { $0.counts.sent })
        page.counter(
            "switchboard_webhooks_failed_total",
            receivers.flatMap { receiver in
                WebhookOutcome.labels.map { label in
                    ("receiver", "\(receiver.name)\",reason=\"\(label)", receiver.counts.failed[label] ?? 0)
                }
            })
        page.counter("switchboard_webhooks_dead_total", each { $0.counts.dead })
        page.counter("switchboard_webhooks_gaps_total", each { $0.counts.gaps })
        page.gauge("switchboard_webhook_topics_busy", each { $0.busy })
        page.gauge("switchboard_webhook_topics_waiting", each { $0.waiting })
        page.gauge("switchboard_webhook_open", each { $0.isOpen ? 1 : 0 })
    }
}
