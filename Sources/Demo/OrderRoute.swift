import Core
import Dialects
import EventLogs
import HTTPCodec
import HTTPSurface
import Operations
import Reactors
import Rights
import Service

/// `POST /demo/order` `{"outcome":"ready" or "failed", "yields"?}`: the demo's backend processes the order `demo`.
///
/// It publishes the events on `order:demo` as any backend would. Only where pages are served, which is `switchboard
/// dev`. One order at a time on a node; one that `yields` ends when another begins. Thread: the shard's.
struct OrderRoute {
    let context: HTTPContext
    let topics: EventLog
    let reactor: Reactor
    let site: DemoSite

    /// Orders are limited by one rate of the node, like a user's commands; the name cannot be a user's.
    private static let allowance = Array("/demo/order".utf8)

    /// Answers the request: 202 as soon as the order has begun.
    func answer(_ request: HTTPRequest, _ respond: @escaping Respond) {
        guard request.head.method == .post else { return respond(.methodNotAllowed([.post], keepAlive: true)) }
        guard let body = try? JSON(parsing: request.body, limits: context.limits.json),
            let outcome = body.root["outcome"]?.string.flatMap({ DemoOrder.Outcome(rawValue: $0) })
        else { return refuse(Refusal(.badRequest, "outcome must be \"ready\" or \"failed\""), respond) }
        if let waitMs = context.rates.waitForUserAction(OrderRoute.allowance, nowMs: context.clock.nowMs) {
            return refuse(
                Refusal(.rateLimited, "too many orders at once; try again", retryAfterMs: waitMs), respond)
        }
        guard let topic = Topic("order:" + DemoOrder.id) else { return }
        guard let number = site.beginOrder(yields: body.root["yields"]?.bool ?? false) else {
            return refuse(Refusal(.conflict, "The order is being processed; wait until it is done."), respond)
        }
        guard let run = OrderRun(self, topic, DemoOrder(outcome), number: number) else {
            site.end(order: number)
            return refuse(Refusal(.internalError, "no order can be processed"), respond)
        }
        run.begin()
        respond(.json(status: 202, body: Array("{\"order_id\":\"\(DemoOrder.id)\"}".utf8), keepAlive: true))
    }

    private func refuse(_ refusal: Refusal, _ respond: Respond) {
        respond(.refusal(refusal, keepAlive: true))
    }
}

/// An order that is being processed.
///
/// Its timer holds it until the last event is published. Thread: the shard's.
private final class OrderRun {
    private let route: OrderRoute
    private let topic: Topic
    private let steps: [DemoOrder.Step]
    private let number: Int
    private var timer: ReactorTimer?
    private var next = 0
    private var failures = 0

    /// Milliseconds until an event that Redis refused is published again, and the maximum number of failures.
    private static let retryMs = 1_000
    private static let failuresMax = 30

    init?(_ route: OrderRoute, _ topic: Topic, _ order: DemoOrder, number: Int) {
        self.route = route
        self.number = number
        self.topic = topic
        steps = order.steps
        do {
            timer = try ReactorTimer(route.reactor) { [self] in publish() }
        } catch {
            return nil
        }
    }

    func begin() {
        timer?.set(atMs: route.context.clock.nowMs + steps[0].delayMs)
    }

    private func publish() {
        timer?.clear()
        let step = steps[next]
        guard route.site.isRunning(order: number), let event = EventName(step.event) else { return end() }
        // An event whose answer was lost is published twice; the app counts a photo once.
        let data = DemoOrder.payload(step, wallMs: route.context.clock.wallMs)
        let request = PublishRequest(topic: topic, event: event, data: data, id: nil)
        route.topics.publish(request, id: nil, payer: nil) { [self] result in
            guard case .success = result else {
                failures += 1
                guard failures < OrderRun.failuresMax else { return end() }
                timer?.set(atMs: route.context.clock.nowMs + OrderRun.retryMs)
                return
            }
            next += 1
            guard next < steps.count else { return end() }
            timer?.set(atMs: route.context.clock.nowMs + steps[next].delayMs)
        }
    }

    private func end() {
        route.site.end(order: number)
        timer?.invalidate()
        timer = nil
    }
}
