import Core
import Dialects
import HTTPCodec
import Reactors
import Rights
import Transport
import WebSocketCodec

/// A connection that speaks HTTP: requests one after another, until one opens a WebSocket.
///
/// Thread: the shard's.
///
/// One request is answered at a time; what a client sends ahead waits, at most one read of it, and then its socket.
final class HTTPPeer: ConnectionHandler {
    /// Which routes this connection may reach.
    enum Door: Sendable {
        /// Clients and backends; operations too when they have no listener of their own.
        case front(operations: Bool)
        /// The private listener of operations.
        case operations
    }

    private unowned let shard: Shard
    private let door: Door
    private let isSecure: Bool
    private var connection: Connection?
    private var parser: HTTPRequestParser
    private var head: HTTPRequestHead?
    private var isBusy = false
    private var isProcessing = false
    private var stash: [UInt8] = []

    init(shard: Shard, door: Door, isSecure: Bool) {
        self.shard = shard
        self.door = door
        self.isSecure = isSecure
        parser = HTTPRequestParser(limits: HTTPLimits(shard.limits))
    }

    func opened(_ connection: Connection) {
        self.connection = connection
        shard.opened(self)
        connection.setDeadline(at: shard.nowMs + shard.limits.requestHeadMs)
    }

    func received(_ bytes: Span<UInt8>) {
        guard !isBusy else {
            for index in 0..<bytes.count { stash.append(bytes[index]) }
            return
        }
        process(bytes)
    }

    private func process(_ bytes: Span<UInt8>) {
        isProcessing = true
        defer { isProcessing = false }
        var position = 0
        if position < bytes.count && head == nil && !parser.isInsideRequest {
            connection?.setDeadline(at: shard.nowMs + shard.limits.requestHeadMs)
        }
        while let connection, connection.isOpen, let event = parser.next(bytes, at: &position) {
            switch event {
            case .head(let head):
                if let upgrade = head.upgrade {
                    return openWebSocket(head, upgrade, rest: bytes, from: position)
                }
                self.head = head
                if head.expectsContinue { _ = connection.send(HTTPResponse.continue100) }
                connection.setDeadline(at: shard.nowMs + shard.limits.requestBodyMs)
            case .body(let body):
                guard let head else { return connection.abort(.internalError) }
                isBusy = true
                shard.requestsInFlight += 1
                answer(head, body)
                guard isBusy else { continue }
                connection.pauseReading()
                for index in position..<bytes.count { stash.append(bytes[index]) }
                return
            case .failed(let failure):
                refuse(.refusal(failure), method: head?.method)
                return
            }
        }
    }

    // MARK: Answering

    private func answer(_ head: HTTPRequestHead, _ body: [UInt8]) {
        shard.statistics.requests.add(1)
        connection?.setDeadline(at: Int.max)
        guard let segments = segments(head) else {
            return respond(.refusal(Refusal(.badRequest, "the path is malformed"), keepAlive: head.keepAlive))
        }
        let service = door.isOperations ? nil : Credentials.service(head.headers, node: shard.node)
        if let refusal = tooManyRequests(head, isService: service != nil) {
            return respond(.refusal(refusal, keepAlive: head.keepAlive))
        }
        let request = HTTPRequest(head: head, body: body, segments: segments, service: service)
        shard.router.route(request, door: door) { [self] response in respond(response) }
    }

    /// Refuses what an address asks beyond its rate.
    ///
    /// A backend's key is checked before, since one backend may ask for many users.
    private func tooManyRequests(_ head: HTTPRequestHead, isService: Bool) -> Refusal? {
        guard !door.isOperations, !isService,
            let waitMs = shard.node.waitForRequest(clientAddress(head, connection?.address), nowMs: shard.nowMs)
        else { return nil }
        shard.statistics.rateLimited.add(1)
        return Refusal(
            .rateLimited, "more than \(shard.limits.requestsPerAddressPerSecond) requests a second from this address",
            retryAfterMs: waitMs)
    }

    /// Empty segments are refused, not skipped: a proxy in front may have judged `//` differently.
    private func segments(_ head: HTTPRequestHead) -> [String]? {
        guard let segments = head.pathSegments else { return nil }
        if segments == [[]] { return [] }
        return segments.contains([]) ? nil : segments.map { String(decoding: $0, as: UTF8.self) }
    }

    private func respond(_ response: HTTPResponse) {
        guard isBusy, let head, let connection else { return }
        var response = response
        response.keepAlive = head.keepAlive && response.keepAlive && !shard.node.health.isDraining
        if (200..<300).contains(response.status) { connection.markEstablished() }
        self.head = nil
        isBusy = false
        shard.requestsInFlight -= 1
        guard response.keepAlive else { return refuse(response, method: head.method, reason: .httpDone) }
        guard connection.send(response.encoded(for: head.method)) else { return connection.close(.slowConsumer) }
        connection.setDeadline(at: shard.nowMs + shard.limits.keepAliveMs)
        guard !isProcessing else { return }
        // What the client sent ahead is next; it may make this connection busy again.
        let ahead = stash
        stash = []
        if !ahead.isEmpty { process(ahead.span) }
        if !isBusy { connection.resumeReading() }
    }

    /// Answers and ends the connection.
    private func refuse(_ response: HTTPResponse, method: HTTPMethod?, reason: CloseReason = .httpRefused) {
        var response = response
        response.keepAlive = false
        connection?.close(reason, last: response.encoded(for: method))
    }

    /// The address a trusted proxy saw: the last of `X-Forwarded-For` that is not itself a trusted proxy.
    private func clientAddress(_ head: HTTPRequestHead, _ peer: IPAddress?) -> IPAddress? {
        guard shard.node.isTrustedProxy(peer) else { return peer }
        for token in head.headers.tokens(of: "x-forwarded-for").reversed() {
            guard let address = IPAddress(text: token) else { return peer }
            if !shard.node.isTrustedProxy(address) { return address }
        }
        return peer
    }

    /// Whether a trusted proxy says that it spoke TLS with the client.
    private func cameOverTLS(_ head: HTTPRequestHead, _ peer: IPAddress?) -> Bool {
        guard shard.node.isTrustedProxy(peer), case .one(let scheme) = head.headers.single("x-forwarded-proto") else {
            return false
        }
        return scheme.elementsEqual("https".utf8)
    }

    // MARK: Upgrade

    private func openWebSocket(_ head: HTTPRequestHead, _ upgrade: HTTPUpgrade, rest bytes: Span<UInt8>, from: Int) {
        guard let connection else { return }
        guard case .front = door else {
            return refuse(.refusal(Refusal(.notFound, "there is no WebSocket here"), keepAlive: false), method: .get)
        }
        guard !shard.node.memory.isShort else {
            let refusal = Refusal(.unavailable, "this node takes no more clients now", retryAfterMs: 1_000)
            return refuse(.refusal(refusal, keepAlive: false), method: .get, reason: .connectionLimit)
        }
        let isSecure = isSecure || cameOverTLS(head, connection.address)
        guard connection.attribute(to: clientAddress(head, connection.address)) else {
            let refusal = Refusal(.rateLimited, "too many connections from this address", retryAfterMs: 1_000)
            return refuse(.refusal(refusal, keepAlive: false), method: .get, reason: .connectionLimit)
        }
        switch shard.router.openWebSocket(head, isSecure: isSecure) {
        case .failure(let refused):
            refuse(.refusal(refused.refusal, status: refused.status, keepAlive: false), method: .get)
        case .success(let opening):
            let accept = Base64.encode(Digest.sha1(WebSocketHandshake.acceptInput(key: upgrade.key)), .standard)
            guard let value = HTTPHeaderValue(accept),
                connection.send(
                    HTTPResponse.switchingProtocols(accept: value, subprotocol: nil, extensions: nil)
                        .encoded(for: .get))
            else { return connection.abort(.internalError) }
            let peer: WebSocketPeer
            switch opening {
            case .echo:
                peer = WebSocketPeer(echo: shard, connection: connection)
            case .session(let variant, let caller):
                peer = WebSocketPeer(
                    shard: shard, connection: connection, dialect: shard.node.dialects[variant], variant: variant,
                    caller: caller)
            }
            self.connection = nil
            shard.ended(self)
            connection.replaceHandler(peer)
            if from < bytes.count { peer.received(bytes.extracting(from..<bytes.count)) }
        }
    }

    // MARK: End

    /// Whether clients of this connection came through the private listener.
    var isOperations: Bool { door.isOperations }

    /// Closes a connection on which no request is under way.
    func closeIfIdle() {
        if !isBusy && head == nil && !parser.isInsideRequest { connection?.close(.restart) }
    }

    func deadlineReached() {
        guard let connection else { return }
        guard parser.isInsideRequest || head != nil else { return connection.close(.timeout) }
        refuse(.refusal(.requestTimeout("the request did not arrive in time")), method: nil, reason: .timeout)
    }

    func ended(_ reason: CloseReason) {
        if isBusy { shard.requestsInFlight -= 1 }
        isBusy = false
        shard.ended(self)
        connection = nil
        stash = []
    }
}
