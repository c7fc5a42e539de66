import Connections
import Core
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
