import Connections
import Core
import HTTPCodec
public import Transports

/// The HTTP interface of a shard: its connections, and what they share.
///
/// Thread: the shard's.
public final class HTTPServer {
    let context: HTTPContext
    let router: Router
    let transports: TransportContext
    let polling: PollingServer
    private let mismatch: ProxyMismatch
    private let plainFields = [HTTPResponse.Field(.cacheControl, .noStore)]
    private let secureFields: [HTTPResponse.Field]
    private var peers: [ObjectIdentifier: HTTPPeer] = [:]
    /// Requests that wait for Redis; a drain lets them be answered.
    public private(set) var requestsInFlight = 0

    /// A server without connections.
    public init(
        _ context: HTTPContext, _ router: Router, _ transports: TransportContext, _ polling: PollingServer,
        _ mismatch: ProxyMismatch
    ) {
        self.context = context
        self.router = router
        self.transports = transports
        self.polling = polling
        self.mismatch = mismatch
        secureFields = plainFields + [context.options.strictTransport].compactMap(\.self)
    }

    /// The fields of every response: for caches, and for browsers on TLS.
    ///
    /// A response that is cached has a field for caches of its own.
    func standingFields(isCached: Bool, isSecure: Bool) -> [HTTPResponse.Field] {
        let fields = isSecure ? secureFields : plainFields
        return isCached ? fields.filter { $0.name != .cacheControl } : fields
    }

    /// A connection was opened.
    func opened(_ peer: HTTPPeer) { peers[ObjectIdentifier(peer)] = peer }

    /// A connection has ended, or became a WebSocket or an event stream.
    func ended(_ peer: HTTPPeer) { peers[ObjectIdentifier(peer)] = nil }

    /// A request waits for its answer.
    func requestBegan() { requestsInFlight += 1 }

    /// A request was answered, or its connection has ended.
    func requestEnded() { requestsInFlight -= 1 }

    /// A connection ended because its listener and the proxy in front of it do not match.
    func proxyMismatched(_ reason: CloseReason, onTLS: Bool) { mismatch.report(reason, onTLS: onTLS) }

    /// Number of connections of the private listener.
    public var operationsCount: Int { peers.values.count(where: \.isOperations) }

    /// Closes the clients' connections on which no request is under way.
    public func closeIdle() {
        for peer in peers.values where !peer.isOperations { peer.closeIfIdle() }
    }
}
