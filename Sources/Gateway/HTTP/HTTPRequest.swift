import Core
import HTTPCodec
import Rights

/// One request, whole.
struct HTTPRequest {
    let head: HTTPRequestHead
    let body: [UInt8]
    /// The path's parts between slashes, decoded; empty for `/`.
    let segments: [String]
    /// The service whose API key it presents; looked up once, since it costs a digest.
    let service: String?
}

/// How a route answers: once, now or later, on the shard's thread.
typealias Respond = (HTTPResponse) -> Void

/// Who a request comes from, by its `apikey` or `Authorization: Bearer` field (design section 8).
enum Credentials {
    /// Who makes a request.
    static func caller(_ request: HTTPRequest, node: Node, wallSeconds: Int) -> Result<Caller, Refusal> {
        caller(request.head.headers, service: request.service, node: node, wallSeconds: wallSeconds)
    }

    /// Credentials that are given must be valid: a wrong key never counts as anonymous.
    ///
    /// `service` is what ``service(_:node:)`` found in the same fields.
    static func caller(
        _ headers: HTTPHeaders, service: String?, node: Node, wallSeconds: Int
    ) -> Result<Caller, Refusal> {
        switch (headers.single("apikey"), headers.single("authorization")) {
        case (.absent, .absent):
            return .success(.anonymous)
        case (.one(let key), _):
            if let service { return .success(.service(service)) }
            // Supabase clients send the user's token as the key.
            return node.verifier.verify(key, now: wallSeconds).map { .user($0) }.mapError { _ in
                Refusal(.unauthorized, "the API key is not known")
            }
        case (.absent, .one(let value)):
            guard let token = bearer(value) else {
                return .failure(Refusal(.unauthorized, "Authorization must be 'Bearer <token or API key>'"))
            }
            if let service { return .success(.service(service)) }
            return node.verifier.verify(token, now: wallSeconds).map { .user($0) }.mapError(\.refusal)
        default:
            return .failure(Refusal(.badRequest, "credentials are given more than once"))
        }
    }

    /// The name of the API key among the node's that the request presents; `nil` when it presents none.
    static func service(_ headers: HTTPHeaders, node: Node) -> String? {
        if case .one(let key) = headers.single("apikey") { return node.apiKeys.match(key) }
        guard case .one(let value) = headers.single("authorization"), let token = bearer(value) else { return nil }
        return node.apiKeys.match(token)
    }

    private static func bearer(_ value: [UInt8]) -> [UInt8]? {
        let scheme = Array("bearer ".utf8)
        guard value.count > scheme.count, ASCII.equalIgnoringCase(value[..<scheme.count], scheme) else { return nil }
        return Array(value[scheme.count...])
    }
}
