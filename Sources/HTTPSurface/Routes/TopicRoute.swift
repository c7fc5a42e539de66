import Commands
import Core
import Dialects
import EventLogs
import HTTPCodec
import Operations
import Reactors
import Rights
import Topics

/// `GET /v1/topics/<topic>`, `.../events?after=&limit=`, `.../presence?after=&limit=` and `.../audit`.
///
/// They return a topic's position, its log, its presence, and its ledger. Callers that may subscribe may read; only
/// services may audit. Thread: the shard's.
struct TopicRoute {
    let context: HTTPContext
    let topics: EventLog
    let access: AccessPolicy
    let reading: TopicReading

    /// The readable parts of a topic.
    enum View {
        case summary, events, presence, audit
    }

    /// Answers the request.
    func answer(_ request: HTTPRequest, _ view: View, _ respond: @escaping Respond) {
        guard let topic = Topic(request.segments[2]) else {
            return respond(
                .refusal(Refusal(.badRequest, "the topic must be namespace:id, e.g. shop:42"), keepAlive: true))
        }
        authorize(topic, request, asksScript: view == .events || view == .presence, respond) {
            switch view {
            case .audit: audit(request, topic, respond)
            case .events: events(request, topic, respond)
            case .presence: presence(request, topic, respond)
            case .summary: summary(request, topic, respond)
            }
        }
    }

    /// Continues where the caller may read: by the namespace's rule, and by its script where it has one.
    private func authorize(
        _ topic: Topic, _ request: HTTPRequest, asksScript: Bool, _ respond: @escaping Respond,
        then goOn: @escaping () -> Void
    ) {
        let caller = request.caller
        let then = {
            guard asksScript, topics.isPersonal(topic) else { return goOn() }
            topics.peek(topic, asker(request)) { result in
                switch result {
                case .success: goOn()
                case .failure(let refusal): respond(BroadcastRoute.refused(refusal))
                }
            }
        }
        switch access.subscribe(topic, caller) {
        case .allow:
            then()
        case .refuse(let refusal):
            respond(.refusal(refusal, keepAlive: true))
        case .askMembership:
            guard case .user(let identity) = caller else { return }
            topics.isMember(topic, user: identity.user) { result in
                switch result.map({ AccessPolicy.Decision.membership($0) }) {
                case .success(.allow): then()
                case .success(.refuse(let refusal)), .failure(let refusal): respond(BroadcastRoute.refused(refusal))
                case .success(.askMembership): break
                }
            }
        }
    }

    private func asker(_ request: HTTPRequest) -> ReadCaller {
        ReadCaller(caller: CommandCaller(request.caller), payer: payer(request))
    }

    private func payer(_ request: HTTPRequest) -> Payer {
        context.rates.payer(request.caller, at: request.origin.address)
    }

    // MARK: History

    private func events(_ request: HTTPRequest, _ topic: Topic, _ respond: @escaping Respond) {
        guard let after = number(request, "after", default: 0, 0...Int.max),
            let limit = number(request, "limit", default: 100, 1...context.limits.historyPageMax)
        else {
            let refusal = Refusal(
                .badRequest, "'after' must be an offset and 'limit' 1 to \(context.limits.historyPageMax)")
            return respond(.refusal(refusal, keepAlive: true))
        }
        topics.history(topic, after: min(after, 1 << 53 - 1), limit: limit, payer: payer(request)) { result in
            switch result {
            case .failure(let refusal): respond(BroadcastRoute.refused(refusal))
            case .success(let history): respond(TopicRoute.page(topic, history))
            }
        }
    }

    private func number(_ request: HTTPRequest, _ name: String, default value: Int, _ range: ClosedRange<Int>) -> Int? {
        switch request.head.queryItem(name) {
        case .absent: value
        case .one(let text): ASCII.decimal(text).flatMap { range.contains($0) ? $0 : nil }
        case .repeated, .malformed: nil
        }
    }

    private static func page(_ topic: Topic, _ history: EventLog.History) -> HTTPResponse {
        var body: [UInt8] = []
        body.append(text: "{\"topic\":\"\(topic)\"")
        append(history.top, to: &body)
        body.append(text: ",\"first\":\(history.first),\"events\":[")
        for (index, event) in history.events.enumerated() {
            body.append(text: index == 0 ? "{\"event\":\"" : ",{\"event\":\"")
            body.append(contentsOf: event.event.bytes)
            body.append(text: "\",\"offset\":\(event.position?.offset ?? 0)")
            if let id = event.id {
                body.append(text: ",\"id\":")
                body.append(jsonString: id.bytes)
            }
            body.append(text: ",\"data\":")
            body.append(contentsOf: event.data)
            body.append(text: "}")
        }
        body.append(text: "],\"next\":\(history.next.map { "\($0)" } ?? "null")}")
        return .json(status: 200, body: body, keepAlive: true)
    }

    /// A topic without any publish or join has no position: epoch null, offset 0.
    private static func append(_ top: Position?, to body: inout [UInt8]) {
        body.append(text: ",\"epoch\":")
        if let top { body.append(jsonString: top.epoch) } else { body.append(text: "null") }
        body.append(text: ",\"offset\":\(top?.offset ?? 0)")
    }

    // MARK: Presence

    private func presence(_ request: HTTPRequest, _ topic: Topic, _ respond: @escaping Respond) {
        guard access.policy(of: topic)?.presence == true else {
            return respond(.refusal(Refusal(.notFound, "this namespace has no presence"), keepAlive: true))
        }
        let pageMax = context.limits.presencePageMax
        guard let limit = number(request, "limit", default: min(100, pageMax), 1...pageMax),
            let after = TopicRoute.place(request)
        else {
            let refusal = Refusal(.badRequest, "'after' must be the id of an entry and 'limit' 1 to \(pageMax)")
            return respond(.refusal(refusal, keepAlive: true))
        }
        reading.presence(topic, payer(request)) { result in
            switch result {
            case .failure(let refusal): respond(BroadcastRoute.refused(refusal))
            case .success(let members): respond(TopicRoute.page(topic, members, after: after, limit: limit))
            }
        }
    }

    /// The entry after which the page begins, an empty name for the first page; `nil` when it is malformed.
    private static func place(_ request: HTTPRequest) -> [UInt8]? {
        switch request.head.queryItem("after") {
        case .absent: []
        case .one(let text): PresenceID(text)?.bytes
        case .repeated, .malformed: nil
        }
    }

    private static func page(
        _ topic: Topic, _ members: [PresenceMember], after: [UInt8], limit: Int
    ) -> HTTPResponse {
        let rest = members.drop { !after.lexicographicallyPrecedes($0.id.bytes) }
        var body: [UInt8] = []
        body.append(text: "{\"topic\":\"\(topic)\",\"total\":\(members.count),\"members\":[")
        for (index, member) in rest.prefix(limit).enumerated() {
            if index > 0 { body.append(text: ",") }
            NativePresence.append(member, to: &body)
        }
        body.append(text: "],\"next\":")
        if rest.count > limit, let last = rest.prefix(limit).last {
            body.append(jsonString: last.id.bytes)
        } else {
            body.append(text: "null")
        }
        body.append(text: "}")
        return .json(status: 200, body: body, keepAlive: true)
    }

    // MARK: Summary

    private func summary(_ request: HTTPRequest, _ topic: Topic, _ respond: @escaping Respond) {
        topics.peek(topic, asker(request)) { [reading] result in
            switch result {
            case .failure(let refusal): respond(BroadcastRoute.refused(refusal))
            case .success(let peek):
                reading.report(topic) { report in
                    respond(TopicRoute.summary(topic, peek, sessions: report.members))
                }
            }
        }
    }

    // MARK: Audit

    private func audit(_ request: HTTPRequest, _ topic: Topic, _ respond: @escaping Respond) {
        topics.peek(topic, asker(request), isReported: false) { [reading] result in
            switch result {
            case .failure(let refusal): respond(BroadcastRoute.refused(refusal))
            case .success(let peek):
                reading.report(topic) { report in
                    respond(TopicRoute.audit(topic, peek.position, report, node: reading.nodeName))
                }
            }
        }
    }

    private static func audit(_ topic: Topic, _ top: Position?, _ report: TopicReport, node: String) -> HTTPResponse {
        var body: [UInt8] = []
        body.append(text: "{\"topic\":\"\(topic)\"")
        append(top, to: &body)
        body.append(text: ",\"node\":\"\(node)\",\"sessions\":\(report.members),\"ledger\":{")
        for (index, figure) in report.figures.enumerated() {
            body.append(text: index == 0 ? "\"" : ",\"")
            body.append(text: "\(figure.name)\":\(figure.value)")
        }
        body.append(text: "},\"balanced\":\(report.isBalanced)}")
        return .json(status: 200, body: body, keepAlive: true)
    }

    private static func summary(_ topic: Topic, _ peek: EventLog.TopicSummary, sessions: Int) -> HTTPResponse {
        var body: [UInt8] = []
        body.append(text: "{\"topic\":\"\(topic)\"")
        append(peek.position, to: &body)
        body.append(text: ",\"subscribers\":{\"sessions\":\(sessions),\"nodes\":\(peek.nodes)},\"state\":")
        body.append(contentsOf: peek.state ?? Array("null".utf8))
        body.append(text: "}")
        return .json(status: 200, body: body, keepAlive: true)
    }
}
