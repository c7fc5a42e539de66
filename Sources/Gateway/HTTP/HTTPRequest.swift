import Commands
import Core
import HTTPCodec
import Rights

/// One request, whole.
struct HTTPRequest {
    let head: HTTPRequestHead
    /// Empty until it has arrived.
    var body: [UInt8] = []
    /// The path's parts between slashes, decoded; empty for `/`.
    let segments: [String]
    /// The target of the method and the path among the gateway's own routes.
    let match: GatewayRoutes.Match
    /// The caller; judged at the head, before the body was read.
    let caller: Caller
    /// Where it comes from.
    let origin: RequestOrigin
    /// Has something done when the connection ends before the answer; for answers that wait long, and cannot be given
    /// twice.
    var watch: (@escaping () -> Void) -> Void = { _ in }
}

/// How a route answers: once, now or later, on the shard's thread.
typealias Respond = (HTTPResponse) -> Void

extension Credentials {
    /// Reads what a request presents.
    init(_ head: HTTPRequestHead) {
        self.init(apiKeys: head.headers.values(of: "apikey"), authorizations: head.headers.values(of: "authorization"))
    }
}
