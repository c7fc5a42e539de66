import Commands
import Core
public import HTTPCodec
import Rights

/// One whole request.
public struct HTTPRequest {
    /// The request line and the header fields.
    public internal(set) var head: HTTPRequestHead
    /// Empty until it has been received.
    public var body: [UInt8] = []
    /// The path's parts between slashes, decoded; empty for `/`.
    public let segments: [String]
    /// The matching route among the gateway's own.
    let match: GatewayRoutes.Match
    /// The caller, determined from the head before the body was read.
    let caller: Caller
    /// The client's address and security.
    let origin: ClientAddress
    /// Registers a callback for a connection that ends before the answer; for late answers that cannot be repeated.
    var watch: (@escaping () -> Void) -> Void = { _ in }
}

/// Answers a request: once, now or later, on the shard's thread.
public typealias Respond = (HTTPResponse) -> Void
