import Commands
import Core
import Dialects
import EventLogs
import HTTPCodec
import Operations
import Reactors
import Rights

/// `POST /v1/broadcast`: publishing by backends.
///
/// A 2xx is sent only after Redis has committed. A batch is answered item by item, in order. Thread: the shard's.
struct BroadcastRoute {
    let context: HTTPContext
    let topics: EventLog
    let access: AccessPolicy

    /// Answers the request of a service.
    func answer(_ request: HTTPRequest, _ respond: @escaping Respond) {
        do throws(Refusal) {
            try publish(request.body, request.caller, respond)
        } catch {
            respond(.refusal(error, keepAlive: true))
        }
    }

    private func publish(
        _ body: [UInt8], _ caller: Caller, _ respond: @escaping Respond
    ) throws(Refusal) {
        let json: JSON
        do {
            json = try JSON(parsing: body, limits: context.limits.json)
        } catch {
            throw Refusal(.badRequest, "the body is \(error.rawValue)")
        }
        guard json.root.kind == .object else { throw Refusal(.badRequest, "the body must be a JSON object") }
        if let messages = json.root["messages"] {
            guard json.root.members.allSatisfy({ $0.isNamed("messages") }) else {
                throw Refusal(.badRequest, "beside 'messages' there is no other member")
            }
            return try publishBatch(messages, caller, respond)
        }
        let request = try publishRequest(json.root, caller)
        publish(request, caller) { [topic = request.topic, statistics = context.statistics] result in
            switch result {
            case .success(let receipt):
                statistics.httpPublishes.add(1)
                var body: [UInt8] = []
                body.reserveCapacity(BroadcastBatch.receiptBytes)
                BroadcastBatch.append(receipt, topic, to: &body)
                respond(.json(status: 200, body: body, keepAlive: true))
            case .failure(let refusal):
                respond(BroadcastRoute.refused(refusal))
            }
        }
    }

    private func publishBatch(
        _ list: JSON.Value, _ caller: Caller, _ respond: @escaping Respond
    ) throws(Refusal) {
        guard list.kind == .array else { throw Refusal(.badRequest, "'messages' must be an array") }
        let items = Array(list.members)
        guard !items.isEmpty else { throw Refusal(.badRequest, "'messages' is empty") }
        guard items.count <= context.limits.batchMax else {
            throw Refusal(.badRequest, "a batch may have \(context.limits.batchMax) messages")
        }
        let batch = BroadcastBatch(count: items.count) { respond($0.response) }
        for (index, item) in items.enumerated() {
            do throws(Refusal) {
                let request = try publishRequest(item, caller)
                publish(request, caller) { [topic = request.topic, statistics = context.statistics] result in
                    if case .success = result { statistics.httpPublishes.add(1) }
                    batch.finish(index, result.map { (topic, $0) })
                }
            } catch {
                batch.finish(index, .failure(error))
            }
        }
    }

    private func publish(
        _ request: PublishRequest, _ caller: Caller,
        _ completion: @escaping (Result<EventLog.PublishReceipt, Refusal>) -> Void
    ) {
        // Only services reach this route, and they have names: no connection is needed to tell them apart.
        let id = request.id.map { PublishID($0, of: caller, connection: []) }
        topics.publish(request, id: id, payer: caller.payer(from: nil), completion)
    }

    private func publishRequest(_ value: JSON.Value, _ caller: Caller) throws(Refusal) -> PublishRequest {
        guard value.kind == .object else { throw Refusal(.badRequest, "a message must be a JSON object") }
        let reader = PublishReader(.broadcast, bytesMax: context.limits.publishBytesMax)
        let known = reader.members
        if value.members.contains(where: { member in !known.contains { member.isNamed($0) } }) {
            throw Refusal(.badRequest, "unknown member; a message has \(known.joined(separator: ", "))")
        }
        let request = try reader.request(value)
        // Only services reach this route, and no membership is checked for a service.
        if case .refuse(let refusal) = access.publish(request.topic, caller) { throw refusal }
        return request
    }

    // MARK: Answers

    /// The response to an error of the store; with `Retry-After` when Redis is unavailable.
    static func refused(_ refusal: Refusal) -> HTTPResponse {
        var response = HTTPResponse.refusal(refusal, keepAlive: true)
        if refusal.code == .unavailable { response.setRetryAfter(seconds: 1) }
        return response
    }
}
