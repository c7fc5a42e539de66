import Core
import HTTPCodec
import Rights

/// One request, whole.
struct HTTPRequest {
    let head: HTTPRequestHead
    let body: [UInt8]
    /// The path's parts between slashes, decoded; empty for `/`.
    let segments: [String]
}

/// How a route answers: once, now or later, on the shard's thread.
typealias Respond = (HTTPResponse) -> Void

/// Who a request comes from, by its `apikey` or `Authorization: Bearer` field (design section 8).
enum Credentials {
    /// Credentials that are given must be valid: a wrong key never counts as anonymous.
    static func caller(_ headers: HTTPHeaders, node: Node, wallSeconds: Int) -> Result<Caller, Refusal> {
        switch (headers.single("apikey"), headers.single("authorization")) {
        case (.absent, .absent):
            return .success(.anonymous)
        case (.one(let key), _):
            guard let name = node.apiKeys.match(key) else {
                // Supabase clients send the user's token as the key.
                return node.verifier.verify(key, now: wallSeconds).map { .user($0) }.mapError { _ in
                    Refusal(.unauthorized, "the API key is not known")
                }
            }
            return .success(.service(name))
        case (.absent, .one(let value)):
            guard let token = bearer(value) else {
                return .failure(Refusal(.unauthorized, "Authorization must be 'Bearer <token or API key>'"))
            }
            if let name = node.apiKeys.match(token) { return .success(.service(name)) }
            return node.verifier.verify(token, now: wallSeconds).map { .user($0) }.mapError(\.refusal)
        default:
            return .failure(Refusal(.badRequest, "credentials are given more than once"))
        }
    }

    /// Whether the request presents one of the node's API keys.
    static func hasAPIKey(_ headers: HTTPHeaders, node: Node) -> Bool {
        if case .one(let key) = headers.single("apikey") { return node.apiKeys.match(key) != nil }
        guard case .one(let value) = headers.single("authorization"), let token = bearer(value) else { return false }
        return node.apiKeys.match(token) != nil
    }

    private static func bearer(_ value: [UInt8]) -> [UInt8]? {
        let scheme = Array("bearer ".utf8)
        guard value.count > scheme.count, ASCII.equalIgnoringCase(value[..<scheme.count], scheme) else { return nil }
        return Array(value[scheme.count...])
    }
}
