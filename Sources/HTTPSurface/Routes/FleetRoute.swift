import Calls
import Configuration
import Core
import Fleet
import HTTPCodec
import Operations
import Reactors
import RedisLink
import Rights
import Service

/// Questions of operators: `GET /v1/nodes`, `/v1/topics`, `/v1/sessions`, `/v1/slow`, `/v1/talkers`, and the queues.
///
/// For services alone: the answers show users and addresses. Thread: the shard's.
struct FleetRoute {
    let context: HTTPContext
    let fleet: FleetService
    let queues: QueueReader
    let figures: NodeFigures

    // MARK: All gateways

    /// Asks all gateways; the rows become the member `name` of the answer.
    func ask(_ kind: FleetQuestion.Kind, as name: StaticString, _ request: HTTPRequest, _ respond: @escaping Respond) {
        do throws(Refusal) {
            fleet.ask(try FleetQuestion(kind, query: try items(request))) { [figures] result in
                switch result {
                case .failure(let refusal): respond(.refusal(refusal, keepAlive: true))
                case .success(var result):
                    if kind == .nodes {
                        let others = figures.nodes.withLock { $0.others }
                        result.add(others.filter { $0.kind != .gateway }.map(NodeRow.announced))
                    }
                    respond(.json(status: 200, body: FleetRoute.body(result, name), keepAlive: true))
                }
            }
        } catch {
            respond(.refusal(error, keepAlive: true))
        }
    }

    private static func body(_ result: FleetResult, _ name: StaticString) -> [UInt8] {
        var body: [UInt8] = [UInt8(ascii: "{")]
        body.append(member: name)
        result.appendRows(to: &body)
        body.append(member: "total", number: result.answer.total)
        body.append(member: "unanswered")
        body.append(arrayOf: result.unanswered) { $0.append(jsonString: $1) }
        return body + [UInt8(ascii: "}")]
    }

    private func items(_ request: HTTPRequest) throws(Refusal) -> [FleetQuestion.Item] {
        guard request.body.isEmpty else { throw Refusal(.badRequest, "this takes no body") }
        guard let items = request.head.queryItems else { throw Refusal(.badRequest, "the query is malformed") }
        return items
    }

    // MARK: One session

    /// Closes a session, on whichever node it is.
    func close(_ request: HTTPRequest, _ respond: @escaping Respond) {
        do throws(Refusal) {
            let id = Array(request.segments[2].utf8)
            let question = try FleetQuestion(closing: id, query: try items(request), key: keyName(request.caller))
            let by = ClientLog.fields(request.caller, at: request.origin.address)
            guard isKnown(question.node) else { throw FleetRoute.noSession }
            fleet.ask(question) { [log = context.log] result in
                switch result {
                case .failure(let refusal): respond(.refusal(refusal, keepAlive: true))
                case .success(let result):
                    guard let row = result.answer.rows.first else {
                        return respond(.refusal(FleetRoute.missing(result), keepAlive: true))
                    }
                    log.write(.info, "a session was closed for an operator", by + [("session", ClientLog.text(id))])
                    respond(.json(status: 200, body: row.content, keepAlive: true))
                }
            }
        } catch {
            respond(.refusal(error, keepAlive: true))
        }
    }

    private func isKnown(_ node: [UInt8]?) -> Bool {
        figures.nodes.withLock { book in (book.others + [book.own]).contains { $0.name == node } }
    }

    private func keyName(_ caller: Caller) -> [UInt8] {
        switch caller {
        case .service(let holder), .publishable(let holder): Array(holder.name.utf8)
        case .user(let identity): identity.user
        case .anonymous: []
        }
    }

    private static let noSession = Refusal(.notFound, "there is no such session; it may have ended")

    private static func missing(_ result: FleetResult) -> Refusal {
        guard result.unanswered.isEmpty else {
            return Refusal(.unavailable, "the node of this session does not answer", retryAfterMs: 1_000)
        }
        return noSession
    }

    // MARK: Queues

    /// Tells the waiting entries of the outbox.
    func outbox(_ request: HTTPRequest, _ respond: @escaping Respond) {
        guard isPlain(request, respond) else { return }
        queues.outbox { FleetRoute.tell($0, respond) { FleetRoute.object(("outbox", $0)) } }
    }

    /// Tells the workers that live.
    func workers(_ request: HTTPRequest, _ respond: @escaping Respond) {
        guard isPlain(request, respond) else { return }
        let processes = processes(.worker)
        queues.partitions { result in
            FleetRoute.tell(result, respond) { counts in
                let rows = processes.map { (NodeRow.announced($0).content, counts[$0.name] ?? 0) }
                var text: [UInt8] = []
                text.append(arrayOf: rows) { text, row in
                    text.append(contentsOf: row.0.dropLast())
                    text.append(member: "partitions", number: row.1)
                    text.append(UInt8(ascii: "}"))
                }
                return FleetRoute.object(("workers", text))
            }
        }
    }

    /// Tells the couriers that live, and the calls of services.
    func couriers(_ request: HTTPRequest, _ respond: @escaping Respond) {
        guard isPlain(request, respond) else { return }
        var rows: [UInt8] = []
        rows.append(arrayOf: processes(.courier)) { $0.append(contentsOf: NodeRow.announced($1).content) }
        queues.services { [rows] in
            FleetRoute.tell($0, respond) { FleetRoute.object(("couriers", rows), ("services", $0)) }
        }
    }

    /// Tells the receivers of webhooks.
    func webhooks(_ request: HTTPRequest, _ respond: @escaping Respond) {
        guard isPlain(request, respond) else { return }
        queues.webhooks { FleetRoute.tell($0, respond) { FleetRoute.object(("webhooks", $0)) } }
    }

    private func processes(_ kind: NodeEntry.Kind) -> [NodeEntry] {
        figures.nodes.withLock { $0.others }.filter { $0.kind == kind }
            .sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }

    /// Whether the request has neither body nor query; otherwise it is refused.
    private func isPlain(_ request: HTTPRequest, _ respond: Respond) -> Bool {
        do throws(Refusal) {
            if try items(request).isEmpty { return true }
            throw Refusal(.badRequest, "this takes no query")
        } catch {
            respond(.refusal(error, keepAlive: true))
            return false
        }
    }

    private static func tell<Reply>(
        _ result: Result<Reply, Refusal>, _ respond: Respond, _ body: (Reply) -> [UInt8]
    ) {
        switch result {
        case .failure(let refusal): respond(BroadcastRoute.refused(refusal))
        case .success(let reply): respond(.json(status: 200, body: body(reply), keepAlive: true))
        }
    }

    private static func object(_ members: (name: StaticString, json: [UInt8])...) -> [UInt8] {
        var body: [UInt8] = [UInt8(ascii: "{")]
        for member in members { body.append(member: member.name, json: member.json) }
        return body + [UInt8(ascii: "}")]
    }
}
