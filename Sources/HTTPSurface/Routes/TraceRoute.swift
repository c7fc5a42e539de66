import Commands
import Core
import EventLogs
import Fleet
import HTTPCodec
import Operations
import Rights
import Traces

/// `GET /v1/topics/{topic}/trace` and `GET /v1/why`: what became of one event, for all sessions or for one user's.
///
/// For services that may read the topic. Thread: the shard's.
struct TraceRoute {
    let context: HTTPContext
    let topics: EventLog
    let access: AccessPolicy
    let reading: TopicReading
    let fleet: FleetService

    /// Sessions of an answer; those that lost the event come first.
    private static let sessionsMax = 100

    /// Answers with every session that had to do with the topic.
    func trace(_ request: HTTPRequest, _ respond: @escaping Respond) {
        begin(request, respond) { () throws(Refusal) in
            try TraceQuery.trace(request.segments[2], request.head)
        } then: { event in
            var question = FleetQuestion(.trace, limit: FleetQuestion.limits.upperBound)
            question.parameters[.topic] = event.query.topic.bytes
            event.mark(&question)
            fleet.ask(question) { result in
                switch result {
                case .failure(let refusal): respond(.refusal(refusal, keepAlive: true))
                case .success(let result):
                    let body = TraceRoute.body(event, result, TraceRoute.scope(request.caller))
                    respond(.json(status: 200, body: body, keepAlive: true))
                }
            }
        }
    }

    /// Answers why a user did not get an event.
    func why(_ request: HTTPRequest, _ respond: @escaping Respond) {
        begin(request, respond) { () throws(Refusal) in
            try TraceQuery.why(request.head)
        } then: { event in
            WhyInquiry(self, event, TraceRoute.scope(request.caller), payer(request)) { result in
                switch result {
                case .failure(let refusal): respond(.refusal(refusal, keepAlive: true))
                case .success(let body): respond(.json(status: 200, body: body, keepAlive: true))
                }
            }.begin()
        }
    }

    /// Continues with the event in question, where the caller may read its topic.
    private func begin(
        _ request: HTTPRequest, _ respond: @escaping Respond, _ read: () throws(Refusal) -> TraceQuery,
        then goOn: @escaping (TracedEvent) -> Void
    ) {
        do throws(Refusal) {
            guard request.body.isEmpty else { throw Refusal(.badRequest, "this takes no body") }
            let query = try read()
            if case .refuse(let refusal) = access.subscribe(query.topic, request.caller) { throw refusal }
            topics.trace(query.topic, offset: query.offset, payer: payer(request)) { result in
                switch result {
                case .failure(let refusal): respond(BroadcastRoute.refused(refusal))
                case .success(let traced): goOn(TracedEvent(query: query, traced: traced))
                }
            }
        } catch {
            respond(.refusal(error, keepAlive: true))
        }
    }

    private func payer(_ request: HTTPRequest) -> Payer {
        context.rates.payer(request.caller, at: request.origin.address)
    }

    /// The part of the facts that a caller may see.
    static func scope(_ caller: Caller) -> WhyFacts.Scope {
        if caller.binding != nil { return .topic }
        return caller.refusal(of: .read) == nil && caller.refusal(of: .write) == nil ? .everything : .withoutBlockers
    }

    private static func body(_ event: TracedEvent, _ result: FleetResult, _ scope: WhyFacts.Scope) -> [UInt8] {
        let rows = TraceRows(result, scope)
        var body = Array("{".utf8)
        body.append(member: "topic", string: event.query.topic.bytes)
        body.append(member: "epoch", stringOrNull: event.position?.epoch)
        body.append(member: "offset", number: event.query.offset)
        body.append(member: "event")
        event.append(to: &body)
        body.append(member: "fates", json: FateCounts.text(rows.fates))
        if scope != .topic { body.append(member: "neverSubscribed", number: rows.withoutSubscription) }
        body.append(member: "sessions")
        body.append(arrayOf: rows.sessions.prefix(sessionsMax)) { $0 += $1 }
        body.append(member: "total", number: result.answer.total)
        body.append(member: "unanswered")
        body.append(arrayOf: result.incomplete) { $0.append(jsonString: $1) }
        return body + [UInt8(ascii: "}")]
    }
}
