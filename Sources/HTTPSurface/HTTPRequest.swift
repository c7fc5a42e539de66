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
    let judged: JudgedHead
    /// Registers a callback for a connection that ends before the answer; for late answers that cannot be repeated.
    var watch: (@escaping () -> Void) -> Void = { _ in }

    /// The path's parts between slashes, decoded; empty for `/`.
    public var segments: [String] { judged.segments }
    /// Whether it came from this machine.
    public var isLocal: Bool { origin.isLocal }
    var match: GatewayRoutes.Match { judged.match }
    var caller: Caller { judged.caller }
    var origin: ClientAddress { judged.origin }
}

/// Answers a request: once, now or later, on the shard's thread.
public typealias Respond = (HTTPResponse) -> Void
