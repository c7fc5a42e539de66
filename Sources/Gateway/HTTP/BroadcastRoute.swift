import Commands
import Core
import HTTPCodec
import Reactors
import Rights

/// `POST /v1/broadcast`, and the shape Supabase's clients send: the publish flow's door for backends.
///
/// A 2xx is given only after Redis has committed. A batch is answered item by item, in order. Thread: the shard's.
struct BroadcastRoute {
    /// Which request and answer.
    enum Shape {
        /// `data`, one message or `messages`; 200 with positions.
        case native
        /// `messages` with `payload`; 202 without a body.
        case supabase
    }

    private struct Message {
        let topic: Topic
        let event: EventName
        let data: [UInt8]
        let id: MessageID?
    }

    unowned let shard: Shard

    /// The shape of a path's requests; `nil` for other paths.
    func shape(_ segments: [String]) -> Shape? {
        switch segments {
        case ["v1", "broadcast"]: .native
        case ["realtime", "v1", "api", "broadcast"]: .supabase
        default: nil
        }
    }

    /// Why a caller may not publish here; `nil` when it may.
    static func refusal(_ caller: Caller) -> Refusal? {
        if caller.isService { return nil }
        return caller.isAnonymous
            ? Refusal(.unauthorized, "an API key is needed to publish")
            : Refusal(.forbidden, "only services publish over HTTP")
    }

    /// Answers the request of a service.
    func answer(_ request: HTTPRequest, shape: Shape, _ respond: @escaping Respond) {
        guard request.head.method == .post else { return respond(.methodNotAllowed([.post], keepAlive: true)) }
        do throws(Refusal) {
            try publish(request.body, shape, request.caller, respond)
        } catch {
            respond(.refusal(error, keepAlive: true))
        }
    }

    private func publish(
        _ body: [UInt8], _ shape: Shape, _ caller: Caller, _ respond: @escaping Respond
    ) throws(Refusal) {
        let json: JSON
        do {
            json = try JSON(parsing: body, limits: shard.limits.json)
        } catch {
            throw Refusal(.badRequest, "the body is \(error.rawValue)")
        }
        guard json.root.kind == .object else { throw Refusal(.badRequest, "the body must be a JSON object") }
        if let messages = json.root["messages"] {
            guard shape == .supabase || json.root.members.allSatisfy({ $0.name == "messages" }) else {
                throw Refusal(.badRequest, "beside 'messages' there is no other member")
            }
            return try publishBatch(messages, shape, caller, respond)
        }
        guard shape == .native else { throw Refusal(.badRequest, "'messages' must be an array") }
        publish(try message(json.root, shape), caller) { result in
            switch result {
            case .success(let (topic, receipt)):
                var body: [UInt8] = []
                BroadcastBatch.append(receipt, topic, to: &body)
                respond(.json(status: 200, body: body, keepAlive: true))
            case .failure(let refusal):
                respond(BroadcastRoute.refused(refusal))
            }
        }
    }

    private func publishBatch(
        _ list: JSON.Value, _ shape: Shape, _ caller: Caller, _ respond: @escaping Respond
    ) throws(Refusal) {
        guard list.kind == .array else { throw Refusal(.badRequest, "'messages' must be an array") }
        let items = Array(list.members)
        guard !items.isEmpty else { throw Refusal(.badRequest, "'messages' is empty") }
        guard items.count <= shard.limits.batchMax else {
            throw Refusal(.badRequest, "a batch may have \(shard.limits.batchMax) messages")
        }
        let batch = BroadcastBatch(count: items.count) { batch in
            respond(shape == .native ? batch.response : batch.supabaseResponse)
        }
        for (index, item) in items.enumerated() {
            do throws(Refusal) {
                publish(try message(item, shape), caller) { batch.finish(index, $0) }
            } catch {
                batch.finish(index, .failure(error))
            }
        }
    }

    private func publish(
        _ message: Message, _ caller: Caller,
        _ completion: @escaping (Result<(Topic, Store.Receipt), Refusal>) -> Void
    ) {
        // Only services come here, and they have names: no connection is needed to tell them apart.
        let id = message.id.map { PublishID($0, of: caller, connection: []) }
        shard.store.publish(message.topic, message.event, message.data, id) { [shard] result in
            if case .success = result { shard.statistics.httpPublishes.add(1) }
            completion(result.map { (message.topic, $0) })
        }
    }

    private func message(_ value: JSON.Value, _ shape: Shape) throws(Refusal) -> Message {
        guard value.kind == .object else { throw Refusal(.badRequest, "a message must be a JSON object") }
        let dataName = shape == .native ? "data" : "payload"
        let known =
            shape == .native ? ["topic", "event", "data", "id"] : ["topic", "event", "payload", "id", "private"]
        for member in value.members where !known.contains(member.name) && shape == .native {
            throw Refusal(.badRequest, "unknown member; a message has \(known.joined(separator: ", "))")
        }
        guard let text = value["topic"]?.stringBytes else { throw Refusal(.badRequest, "'topic' must be a string") }
        guard let topic = Topic(text) else {
            throw Refusal(.badRequest, "'topic' must be namespace:id, e.g. shop:42")
        }
        guard shard.node.access.policy(of: topic) != nil else {
            throw Refusal(.notFound, "there is no such namespace")
        }
        guard let event = value["event"]?.stringBytes.flatMap({ EventName($0) }) else {
            throw Refusal(.badRequest, "'event' must be 1 to 64 of A-Z a-z 0-9 . _ : / -")
        }
        guard !event.isReserved else {
            throw Refusal(.badRequest, "'event' must not be '\(event)', which is a word of the gateway's own")
        }
        guard let data = value[dataName] else { throw Refusal(.badRequest, "'\(dataName)' is missing") }
        guard data.kind == .object else { throw Refusal(.badRequest, "'\(dataName)' must be a JSON object") }
        guard data.raw.count <= shard.limits.publishBytesMax else {
            throw Refusal(.tooLarge, "'\(dataName)' may have \(shard.limits.publishBytesMax) bytes")
        }
        var id: MessageID?
        if let given = value["id"] {
            guard let read = given.stringBytes.flatMap({ MessageID($0) }) else {
                throw Refusal(.badRequest, "'id' must be a string of 1 to 128 of A-Z a-z 0-9 . _ ~ : -")
            }
            id = read
        }
        return Message(topic: topic, event: event, data: Array(data.raw), id: id)
    }

    // MARK: Answers

    /// An error of the store; when it is away, with the time to come back.
    static func refused(_ refusal: Refusal) -> HTTPResponse {
        var response = HTTPResponse.refusal(refusal, keepAlive: true)
        if refusal.code == .unavailable { response.setRetryAfter(seconds: 1) }
        return response
    }
}
