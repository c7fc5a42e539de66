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
    let reads: SharedReads<Queue>

    /// A subject of the questions about waiting work.
    enum Queue {
        case outbox, workers, couriers, webhooks
    }

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
        body.append(member: "truncated", json: "\(result.answer.isTruncated)".utf8)
        body.append(member: "unanswered")
        body.append(arrayOf: result.unanswered) { $0.append(jsonString: $1) }
        body.append(member: "reasons")
        body.append(arrayOf: result.reasons) { text, reason in
            text.append(UInt8(ascii: "{"))
            text.append(member: "node", string: reason.node)
            text.append(member: "reason", string: reason.word)
            text.append(UInt8(ascii: "}"))
        }
        return body + [UInt8(ascii: "}")]
    }

    /// The query of a request without a body.
    func items(_ request: HTTPRequest) throws(Refusal) -> [FleetQuestion.Item] {
        guard request.body.isEmpty else { throw Refusal(.badRequest, "this takes no body") }
        guard let items = request.head.queryItems else { throw Refusal(.badRequest, "the query is malformed") }
        return items
    }

    // MARK: One session

    /// Closes a session, on whichever node it is.
    func close(_ request: HTTPRequest, _ respond: @escaping Respond) {
        do throws(Refusal) {
            let id = Array(request.segments[2].utf8)
            let question = try FleetQuestion(
                .close, ofSession: id, query: try items(request), key: keyName(request.caller))
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

    /// Whether a gateway of that id lives.
    func isKnown(_ node: [UInt8]?) -> Bool {
        figures.nodes.withLock { book in (book.others + [book.own]).contains { $0.name == node } }
    }

    /// The name of the operator's key.
    func keyName(_ caller: Caller) -> [UInt8] {
        switch caller {
        case .service(let holder), .publishable(let holder): Array(holder.name.utf8)
        case .user(let identity): identity.user
        case .anonymous: []
        }
    }

    /// The refusal of an id that no session has.
    static let noSession = Refusal(.notFound, "there is no such session; it may have ended")

    /// The refusal where the answer has no session.
    static func missing(_ result: FleetResult) -> Refusal {
        guard result.unanswered.isEmpty else {
            return Refusal(.unavailable, "the node of this session does not answer", retryAfterMs: 1_000)
        }
        return noSession
    }

    // MARK: Queues

    /// Reads what waits for workers or couriers, and answers.
    ///
    /// The rate is that of questions over all nodes, and callers share answers likewise.
    func read(_ queue: Queue, _ request: HTTPRequest, _ respond: @escaping Respond) {
        do throws(Refusal) {
            guard try items(request).isEmpty else { throw Refusal(.badRequest, "this takes no query") }
            let answer: QueueReader.Completion = { result in
                switch result {
                case .failure(let refusal): respond(BroadcastRoute.refused(refusal))
                case .success(let body): respond(.json(status: 200, body: body, keepAlive: true))
                }
            }
            if reads.join(queue, answer) { return fleet.noteShared() }
            if let refusal = fleet.admit() { throw refusal }
            reads.read(queue, answer) { read(queue, $0) }
        } catch {
            respond(.refusal(error, keepAlive: true))
        }
    }

    private func read(_ queue: Queue, _ completion: @escaping QueueReader.Completion) {
        switch queue {
        case .outbox: queues.outbox { completion($0.map { FleetRoute.object(("outbox", $0)) }) }
        case .webhooks: queues.webhooks { completion($0.map { FleetRoute.object(("webhooks", $0)) }) }
        case .workers:
            let processes = processes(.worker)
            queues.partitions { completion($0.map { FleetRoute.object(("workers", FleetRoute.rows(processes, $0))) }) }
        case .couriers:
            var rows: [UInt8] = []
            rows.append(arrayOf: processes(.courier)) { $0.append(contentsOf: NodeRow.announced($1).content) }
            queues.services { [rows] in
                completion($0.map { FleetRoute.object(("couriers", rows), ("services", $0)) })
            }
        }
    }

    /// A JSON array of workers with the numbers of their partitions.
    private static func rows(_ workers: [NodeEntry], _ partitions: [[UInt8]: Int]) -> [UInt8] {
        var text: [UInt8] = []
        text.append(arrayOf: workers) { text, worker in
            text.append(contentsOf: NodeRow.announced(worker).content.dropLast())
            text.append(member: "partitions", number: partitions[worker.name] ?? 0)
            text.append(UInt8(ascii: "}"))
        }
        return text
    }

    private func processes(_ kind: NodeEntry.Kind) -> [NodeEntry] {
        figures.nodes.withLock { $0.others }.filter { $0.kind == kind }
            .sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }

    private static func object(_ members: (name: StaticString, json: [UInt8])...) -> [UInt8] {
        var body: [UInt8] = [UInt8(ascii: "{")]
        for member in members { body.append(member: member.name, json: member.json) }
        return body + [UInt8(ascii: "}")]
    }
}
