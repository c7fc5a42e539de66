import Commands
import Core
import Dialects
import EventLogs
import HTTPCodec
import Operations
import Reactors
import Rights
import Service

/// `POST /realtime/v1/api/broadcast` and `.../broadcast/{topic}/events/{event}`: publishing by Supabase's clients.
///
/// Services may publish on any topic, users where the namespaces of the topics allow it. Every message is checked
/// before any is published, and 202 is sent only after Redis has committed all of them. Responses have the shapes that
/// the clients read. Thread: the shard's.
struct SupabaseRoute {
    let context: HTTPContext
    let topics: EventLog
    let access: AccessPolicy

    /// Answers a request whose caller may publish.
    ///
    /// `isBatch`: the messages are in the body, and not in the path.
    func answer(_ request: HTTPRequest, isBatch: Bool, _ respond: @escaping Respond) {
        switch isBatch ? batch(request) : single(request) {
        case .failure(let response): respond(response.value)
        case .success(let requests):
            let payer = context.rates.payer(request.caller, at: request.origin.address)
            publish(requests, request.caller, payer, respond)
        }
    }

    /// A response that ends the parsing of a request.
    private struct Refused: Error {
        let value: HTTPResponse
    }

    // MARK: Reading

    /// One message: its topic and event are in the path, its payload is the body.
    private func single(_ request: HTTPRequest) -> Result<[PublishRequest], Refused> {
        let (topic, event) = (Array(request.segments[4].utf8), Array(request.segments[6].utf8))
        guard let isBytes = isBytes(request.head) else {
            let text = "Unsupported Media Type. Use application/json or application/octet-stream"
            return .failure(Refused(value: SupabaseAnswer.error(415, "error", text)))
        }
        do throws(Refusal) {
            let data = isBytes ? BytesObject.data(of: request.body) : request.body
            let reader = PublishReader(.supabase, bytesMax: context.limits.publishBytesMax)
            return .success([
                try reader.request(
                    on: try PhoenixDialect.topic(named: topic), event: event, text: data, limits: context.limits.json)
            ])
        } catch {
            return .failure(Refused(value: SupabaseAnswer.unprocessable([error])))
        }
    }

    /// Whether the content type says bytes; `nil` for a type that is neither bytes nor JSON.
    private func isBytes(_ head: HTTPRequestHead) -> Bool? {
        switch head.headers.single("content-type") {
        case .absent: return false
        case .repeated, .malformed: return nil
        case .one(let type):
            let name = type.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
            if ASCII.equalIgnoringCase(name, Array("application/octet-stream".utf8)) { return true }
            return ASCII.equalIgnoringCase(name, Array("application/json".utf8)) ? false : nil
        }
    }

    /// Many messages; one invalid message refuses all of them.
    private func batch(_ request: HTTPRequest) -> Result<[PublishRequest], Refused> {
        guard let root = try? JSON(parsing: request.body, limits: context.limits.json).root,
            let messages = root["messages"], messages.kind == .array, messages.members.contains(where: { _ in true })
        else { return .failure(Refused(value: SupabaseAnswer.unprocessable("can't be blank"))) }
        var requests: [PublishRequest] = []
        var problems: [Refusal?] = []
        for message in messages.members {
            guard problems.count < context.limits.batchMax else {
                let text = "should have at most \(context.limits.batchMax) item(s)"
                return .failure(Refused(value: SupabaseAnswer.unprocessable(text)))
            }
            do throws(Refusal) {
                requests.append(try self.message(message))
                problems.append(nil)
            } catch {
                problems.append(error)
            }
        }
        guard requests.count == problems.count else {
            return .failure(Refused(value: SupabaseAnswer.unprocessable(problems)))
        }
        return .success(requests)
    }

    private func message(_ value: JSON.Value) throws(Refusal) -> PublishRequest {
        let name = value["topic"]?.stringBytes ?? []
        let reader = PublishReader(.supabase, bytesMax: context.limits.publishBytesMax)
        return try reader.request(on: try PhoenixDialect.topic(named: name), value)
    }

    // MARK: Publishing

    /// Checks all rights and the caller's rate, then publishes.
    private func publish(
        _ requests: [PublishRequest], _ caller: Caller, _ payer: Payer, _ respond: @escaping Respond
    ) {
        if case .user(let identity) = caller, !caller.isService {
            for _ in requests {
                guard let waitMs = context.rates.waitForUserAction(identity.user, nowMs: context.clock.nowMs) else {
                    continue
                }
                context.statistics.rateLimited.add(1)
                let refusal = Refusal(.rateLimited, "Too many requests", retryAfterMs: waitMs)
                return respond(SupabaseAnswer.refused(refusal))
            }
        }
        var asked: Set<Topic> = []
        for request in requests {
            switch access.publish(request.topic, caller) {
            case .allow: break
            case .refuse(let refusal): return respond(SupabaseAnswer.refused(refusal))
            case .askMembership: asked.insert(request.topic)
            }
        }
        ask(Array(asked), caller) { [context, topics] refusal in
            if let refusal { return respond(SupabaseAnswer.refused(refusal)) }
            let batch = BroadcastBatch(count: requests.count) { respond($0.supabaseResponse) }
            for (index, request) in requests.enumerated() {
                let id = request.id.map { PublishID($0, of: caller, connection: []) }
                topics.publish(request, id: id, payer: payer) { result in
                    if case .success = result { context.statistics.httpPublishes.add(1) }
                    batch.finish(index, result.map { (request.topic, $0) })
                }
            }
        }
    }

    /// Asks Redis whether the user is a member of each topic, one after another; in a batch few topics need it.
    private func ask(_ topics: [Topic], _ caller: Caller, _ completion: @escaping (Refusal?) -> Void) {
        guard let topic = topics.first, case .user(let identity) = caller else { return completion(nil) }
        self.topics.isMember(topic, user: identity.user) { result in
            switch result.map({ AccessPolicy.Decision.membership($0) }) {
            case .success(.refuse(let refusal)), .failure(let refusal): completion(refusal)
            case .success: ask(Array(topics.dropFirst()), caller, completion)
            }
        }
    }
}
