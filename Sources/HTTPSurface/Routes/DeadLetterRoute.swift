import Calls
import Core
import HTTPCodec
import Rights

/// `GET` and `DELETE /v1/dead-letters`, `POST /v1/dead-letters/retry`: deliveries that couriers and workers gave up.
///
/// The query's `service` is that of the calls, or `webhooks:NAME` for a receiver's events. For services alone, since a
/// letter shows users' data of any topic. Thread: the shard's.
struct DeadLetterRoute {
    let context: HTTPContext
    let deadLetters: DeadLetters

    private static let limits = 1...100
    private static let limitUsual = 50
    private static let known = ["service", "id", "after", "limit"]

    /// The parsed query.
    private struct Query {
        let box: DeadLetter.Box
        let id: [UInt8]?
        let after: [UInt8]?
        let limit: Int

        var choice: DeadLetters.Choice { id.map { .one($0) } ?? .after(after, limit: limit) }
    }

    /// Answers the request.
    func answer(_ request: HTTPRequest, _ respond: @escaping Respond) {
        do throws(Refusal) {
            let query = try parse(request)
            switch request.head.method {
            case .post: retry(query, respond)
            case .delete: drop(query, respond)
            default: read(query, respond)
            }
        } catch {
            respond(.refusal(error, keepAlive: true))
        }
    }

    private func parse(_ request: HTTPRequest) throws(Refusal) -> Query {
        guard request.body.isEmpty else { throw Refusal(.badRequest, "this takes no body") }
        guard let items = request.head.queryItems else { throw Refusal(.badRequest, "the query is malformed") }
        // A misspelt `id` must not drop all letters.
        let known = DeadLetterRoute.known.prefix(request.head.method == .delete ? 2 : DeadLetterRoute.known.count)
        guard items.allSatisfy({ item in known.contains { item.name.elementsEqual($0.utf8) } }) else {
            let names = known.joined(separator: ", ")
            throw Refusal(.badRequest, "unknown name in the query; it has \(names)")
        }
        guard let box = try text(request, "service").flatMap({ DeadLetter.Box($0) }) else {
            throw Refusal(.badRequest, "'service' must be a name such as spotify, or webhooks:NAME for a receiver")
        }
        let (id, after) = (try text(request, "id"), try text(request, "after"))
        guard [id, after].allSatisfy({ $0.map { DeadLetter.isID($0) } ?? true }) else {
            throw Refusal(.badRequest, "'id' and 'after' must be ids of dead letters, e.g. 1795205000000-0")
        }
        let limit = try text(request, "limit").map { ASCII.decimal($0) } ?? DeadLetterRoute.limitUsual
        guard let limit, DeadLetterRoute.limits.contains(limit) else {
            throw Refusal(.badRequest, "'limit' must be 1 to \(DeadLetterRoute.limits.upperBound)")
        }
        return Query(box: box, id: id, after: after, limit: limit)
    }

    private func text(_ request: HTTPRequest, _ name: String) throws(Refusal) -> [UInt8]? {
        switch request.head.queryItem(name) {
        case .absent: nil
        case .one(let text): text
        case .repeated, .malformed: throw Refusal(.badRequest, "'\(name)' is malformed, or given twice")
        }
    }

    private func read(_ query: Query, _ respond: @escaping Respond) {
        deadLetters.read(query.box, query.choice) { [limits = context.limits.answers] result in
            switch result {
            case .failure(let refusal): respond(BroadcastRoute.refused(refusal))
            case .success(let page):
                var body: [UInt8] = Array("{\"deadLetters\":[".utf8)
                for (index, letter) in page.letters.enumerated() {
                    if index > 0 { body.append(UInt8(ascii: ",")) }
                    body += letter.json(query.box, limits)
                }
                body.append(text: "]")
                respond(.json(status: 200, body: body + DeadLetterRoute.ending(page.next), keepAlive: true))
            }
        }
    }

    private func retry(_ query: Query, _ respond: @escaping Respond) {
        deadLetters.retry(query.box, query.choice) { result in
            switch result {
            case .failure(let refusal): respond(BroadcastRoute.refused(refusal))
            case .success(let outcome):
                guard query.id == nil || outcome.retried + outcome.gone > 0 else { return respond(.noLetter) }
                let body = Array("{\"retried\":\(outcome.retried),\"gone\":\(outcome.gone)".utf8)
                respond(.json(status: 200, body: body + DeadLetterRoute.ending(outcome.next), keepAlive: true))
            }
        }
    }

    private func drop(_ query: Query, _ respond: @escaping Respond) {
        deadLetters.drop(query.box, query.id) { result in
            switch result {
            case .failure(let refusal): respond(BroadcastRoute.refused(refusal))
            case .success(let count):
                guard query.id == nil || count > 0 else { return respond(.noLetter) }
                respond(.json(status: 200, body: Array("{\"dropped\":\(count)}".utf8), keepAlive: true))
            }
        }
    }

    private static func ending(_ next: [UInt8]?) -> [UInt8] {
        var text: [UInt8] = Array(",\"next\":".utf8)
        if let next { text.append(jsonString: next) } else { text.append(text: "null") }
        return text + [UInt8(ascii: "}")]
    }
}

extension HTTPResponse {
    /// The response when no letter has that id.
    fileprivate static var noLetter: HTTPResponse {
        .refusal(Refusal(.notFound, "there is no such dead letter"), keepAlive: true)
    }
}
