public import Connections
public import Core
import Dialects
import HTTPCodec
import Operations
import Reactors
import Rights
import Service
import Topics
import Transports
import WebSocketCodec

/// A connection that speaks HTTP: requests one after another, until one opens a WebSocket.
///
/// One request is answered at a time. Later data of the client waits: at most one read of it, then in its socket.
/// Thread: the shard's.
public final class HTTPPeer: ConnectionHandler {
    /// A request from its head to its answer.
    private struct Pending {
        let head: HTTPRequestHead
        /// The request without its body, or its refusal; a refused one without a body keeps the connection.
        let verdict: Result<HTTPRequest, Refusal>

        /// The caller, unless the request was refused.
        var caller: Caller? { if case .success(let request) = verdict { request.caller } else { nil } }
    }

    private unowned let server: HTTPServer
    private let role: ListenerRole
    private let isSecure: Bool
    private var connection: Connection?
    private var parser: HTTPRequestParser
    /// The request whose body or answer is pending, with the verdict on its head.
    private var pending: Pending?
    /// The last request's fields for pages of other origins; responses to malformed requests bear none.
    private var crossOrigin: [HTTPResponse.Field] = []
    /// The form of a refusal of the request under way; `nil`: the usual form.
    private var rewriter: ErrorRewriter?
    /// The head of the request under way; `nil` between two requests.
    private var asked: (head: HTTPRequestHead, atMs: Int)?
    /// Whether the connection ends because no further request arrived.
    private var isIdleEnd = false
    private var isBusy = false
    private var isProcessing = false
    /// Called when the connection ends before the answer; the client is read meanwhile, to notice its end.
    private var onAbandoned: (() -> Void)?
    private var stash: [UInt8] = []

    /// A peer of an accepted connection; `isSecure` when its listener terminates TLS.
    public init(_ server: HTTPServer, role: ListenerRole, isSecure: Bool) {
        self.server = server
        self.role = role
        self.isSecure = isSecure
        parser = HTTPRequestParser(limits: HTTPLimits(server.context.limits))
    }

    private var context: HTTPContext { server.context }

    /// Keeps the connection, whose address the log may need.
    public func accepted(_ connection: Connection) {
        self.connection = connection
    }

    /// Waits for a first request, at most `requestHeadMs`.
    public func opened(_ connection: Connection) {
        self.connection = connection
        server.opened(self)
        if let access = context.accessLog, !isOperations {
            connection.number = access.newNumber()
            connection.openedMs = context.clock.nowMs
            access.opened(connection.number, overTLS: isSecure, at: connection.address)
        }
        connection.setDeadline(at: context.clock.nowMs + context.limits.requestHeadMs)
    }

    /// Parses requests; bytes behind a request that is not answered yet are kept.
    public func received(_ bytes: Span<UInt8>) {
        guard !isBusy else {
            for index in 0..<bytes.count { stash.append(bytes[index]) }
            connection?.pauseReading()
            return
        }
        process(bytes)
    }

    private func process(_ bytes: Span<UInt8>) {
        isProcessing = true
        defer { isProcessing = false }
        var position = 0
        if position < bytes.count && pending == nil && !parser.isInsideRequest {
            connection?.setDeadline(at: context.clock.nowMs + context.limits.requestHeadMs)
        }
        while let connection, connection.isOpen, let event = parser.next(bytes, at: &position) {
            switch event {
            case .head(let head):
                asked = (head, context.clock.nowMs)
                if case .front = role {
                    crossOrigin = server.router.crossOrigin.fields(head)
                    rewriter = server.router.rewriter(head)
                }
                if let upgrade = head.upgrade {
                    return openWebSocket(head, upgrade, rest: bytes, from: position)
                }
                if head.method == .get, head.body == .none, case .front = role,
                    let entry = context.dialects.entry(head, .eventStream)
                {
                    return openStream(head, entry, rest: bytes.count - position)
                }
                guard take(head, connection) else { return }
            case .body(let body):
                guard let pending else { return connection.abort(.internalError) }
                isBusy = true
                server.requestBegan()
                answer(pending, body)
                guard isBusy else { continue }
                if onAbandoned == nil || position < bytes.count { connection.pauseReading() }
                for index in position..<bytes.count { stash.append(bytes[index]) }
                return
            case .failed(let failure):
                let isStray = pending == nil && StrayProxyHeader.begins(bytes)
                refuse(
                    .refusal(failure), method: pending?.head.method,
                    reason: isStray ? .strayProxyHeader : .httpRefused)
                return
            }
        }
    }

    // MARK: Answers

    /// Checks a head; false when the request was refused for it and its body is not read.
    private func take(_ head: HTTPRequestHead, _ connection: Connection) -> Bool {
        let verdict = RequestGate(context: context, router: server.router, role: role).judge(head, origin(head))
        pending = Pending(head: head, verdict: verdict.map(\.request))
        switch verdict {
        case .failure(let refusal):
            guard head.body != .none else { return true }
            context.statistics.requests.add(1)
            refuse(server.router.refused(refusal, head, keepAlive: false), method: head.method)
            return false
        case .success(let admitted):
            if let failure = parser.limitBody(to: admitted.bodyBytesMax) {
                refuse(.refusal(failure), method: head.method)
                return false
            }
            if head.expectsContinue { _ = connection.send(HTTPResponse.continue100) }
            connection.setDeadline(at: context.clock.nowMs + context.limits.requestBodyMs)
            return true
        }
    }

    private func answer(_ pending: Pending, _ body: [UInt8]) {
        context.statistics.requests.add(1)
        connection?.setDeadline(at: Int.max)
        switch pending.verdict {
        case .failure(let refusal):
            respond(server.router.refused(refusal, pending.head, keepAlive: pending.head.keepAlive))
        case .success(var request):
            request.body = body
            request.watch = { [unowned self] in onAbandoned = $0 }
            server.router.route(request, role: role) { [self] response in respond(response) }
        }
    }

    private func origin(_ head: HTTPRequestHead) -> ClientAddress {
        ClientAddress(head.headers, peer: connection?.address, overTLS: isSecure) { [server] address in
            server.context.rates.isTrustedProxy(address)
        }
    }

    private func respond(_ response: HTTPResponse) {
        guard isBusy, let head = pending?.head, let connection else { return }
        let failure = response.failure
        var response = rewriter?.rewritten(response) ?? response
        response.keepAlive = head.keepAlive && response.keepAlive && !context.health.isDraining
        if (200..<300).contains(response.status) { connection.markEstablished() }
        let caller = pending?.caller
        pending = nil
        isBusy = false
        onAbandoned = nil
        server.requestEnded()
        rewriter = nil
        note(response, failure, caller)
        guard response.keepAlive else { return finish(response, method: head.method, reason: .httpDone) }
        addStandingFields(&response)
        guard connection.send(response.encoded(for: head.method)) else { return connection.close(.slowConsumer) }
        connection.setDeadline(at: context.clock.nowMs + context.limits.keepAliveMs)
        guard !isProcessing else { return }
        // The data that the client sent ahead is next; it may make this connection busy again.
        let ahead = stash
        stash = []
        if !ahead.isEmpty { process(ahead.span) }
        if !isBusy { connection.resumeReading() }
    }

    /// Answers and ends the connection.
    private func refuse(_ response: HTTPResponse, method: HTTPMethod?, reason: CloseReason = .httpRefused) {
        let rewritten = rewriter?.rewritten(response) ?? response
        note(rewritten, response.failure, pending?.caller, isReported: reason == .connectionLimit)
        finish(rewritten, method: method, reason: reason)
    }

    private func finish(_ response: HTTPResponse, method: HTTPMethod?, reason: CloseReason) {
        var response = response
        response.keepAlive = false
        addStandingFields(&response)
        connection?.close(reason, last: response.encoded(for: method))
    }

    /// Adds the fields of every response: for pages of other origins, for caches, and for browsers on TLS.
    private func addStandingFields(_ response: inout HTTPResponse) {
        CrossOrigin.add(crossOrigin, to: &response)
        if !response.has(.cacheControl) { response.add(.cacheControl, "no-store") }
        if isSecure, let field = context.options.strictTransport { response.set(field.name, field.value) }
    }

    /// Logs a response; `failure` is its error before a pack rewrote it.
    private func note(
        _ response: HTTPResponse, _ failure: HTTPResponse.Failure?, _ caller: Caller?, isReported: Bool = false
    ) {
        note(status: response.status, bytes: response.body.count, failure, by: caller, isReported: isReported)
    }

    private func note(
        status: Int, bytes: Int = 0, _ failure: HTTPResponse.Failure? = nil, by caller: Caller?,
        isReported: Bool = false
    ) {
        guard let connection else { return }
        let address = asked.map { origin($0.head).address } ?? connection.address
        let tookMs = asked.map { context.clock.nowMs - $0.atMs } ?? 0
        RequestNote(
            head: asked?.head, caller: caller, address: address, status: status, failure: failure, bytes: bytes,
            tookMs: tookMs, connection: connection.number, isReported: isReported
        ).write(to: context)
        asked = nil
    }

    // MARK: Upgrades

    private func openWebSocket(_ head: HTTPRequestHead, _ upgrade: HTTPUpgrade, rest bytes: Span<UInt8>, from: Int) {
        guard let connection else { return }
        guard case .front = role else {
            return refuse(.refusal(Refusal(.notFound, "there is no WebSocket here"), keepAlive: false), method: .get)
        }
        guard let opening = admit(head, { server.router.opener.openWebSocket(head, $0) }) else { return }
        let subprotocol = opening.dialect?.subprotocol.flatMap { name in
            upgrade.protocols.contains { $0.elementsEqual(name.utf8) } ? HTTPHeaderValue(name) : nil
        }
        let accept = Base64.encode(Digest.sha1(WebSocketHandshake.acceptInput(key: upgrade.key)), .standard)
        let offered = context.options.deflates ? head.headers.values(of: "sec-websocket-extensions") : []
        let deflate = DeflateAgreement(offered: offered)
        guard let value = HTTPHeaderValue(accept) else { return connection.abort(.internalError) }
        let answer = HTTPResponse.switchingProtocols(
            accept: value, subprotocol: subprotocol, extensions: deflate.flatMap { HTTPHeaderValue($0.answer) }
        )
        .encoded(for: .get)
        if case .moveElsewhere(let home, let session) = opening {
            return move(connection, to: home, session, answer: answer, deflate, hasRest: from < bytes.count)
        }
        guard connection.send(answer) else { return connection.abort(.internalError) }
        note(status: 101, by: opening.caller)
        let transport: WebSocketTransport
        switch opening {
        case .echo:
            transport = WebSocketTransport(echo: server.transports, connection: connection, deflate: deflate)
        case .machine(let dialect, let caller):
            let peer = server.transports.peer(dialect, caller)
            transport = WebSocketTransport(server.transports, connection: connection, peer: peer, deflate: deflate)
        case .move(let session):
            transport = WebSocketTransport(
                server.transports, connection: connection, probing: session, deflate: deflate)
        case .moveElsewhere:
            return
        }
        hand(connection, to: transport)
        transport.begin()
        if from < bytes.count { transport.received(bytes.extracting(from..<bytes.count)) }
    }

    /// Passes the connection to the shard of its session, which answers the upgrade.
    private func move(
        _ connection: Connection, to home: Int, _ session: [UInt8], answer: [UInt8], _ deflate: DeflateAgreement?,
        hasRest: Bool
    ) {
        // A client that sends before the answer, or does not read, breaks the protocol.
        guard !hasRest, let moving = connection.depart() else {
            let refusal = Refusal(.badRequest, "\(EngineRequest.Fault.request.message)")
            return refuse(.refusal(refusal, keepAlive: false), method: .get)
        }
        self.connection = nil
        server.ended(self)
        server.polling.send(moving, to: home, session, answer: answer, deflate)
    }

    private func openStream(_ head: HTTPRequestHead, _ entry: DialectRegistry.Entry, rest: Int) {
        guard let connection else { return }
        context.statistics.requests.add(1)
        let address = origin(head).address
        if let refusal = context.refusalOfRate(address) {
            return refuse(.refusal(refusal, keepAlive: false), method: head.method)
        }
        guard let opening = admit(head, { server.router.opener.open(entry, head, $0) }) else { return }
        let more = [isSecure ? context.options.strictTransport : nil].compactMap(\.self)
        guard case .machine(let dialect, let caller) = opening,
            connection.send(HTTPResponse.eventStream(crossOrigin + more))
        else { return connection.abort(.internalError) }
        note(status: 200, by: caller)
        let peer = server.transports.peer(dialect, caller)
        let transport = EventStreamTransport(server.transports, connection: connection, peer: peer)
        hand(connection, to: transport)
        transport.begin()
        if rest > 0 { transport.close(.badRequest) }
    }

    /// Opens the request's session when one more client is admitted; `nil` when the request was refused.
    private func admit(
        _ head: HTTPRequestHead, _ open: (ClientAddress) -> Result<SessionOpener.Opening, SessionOpener.RefusedEntry>
    ) -> SessionOpener.Opening? {
        guard let connection else { return nil }
        guard !context.memory.isShort else {
            let refusal = Refusal(.unavailable, "this node takes no more clients now", retryAfterMs: 1_000)
            refuse(.refusal(refusal, keepAlive: false), method: .get, reason: .connectionLimit)
            return nil
        }
        let origin = origin(head)
        guard connection.attribute(to: origin.address) else {
            let refusal = Refusal(.rateLimited, "too many connections from this address", retryAfterMs: 1_000)
            refuse(.refusal(refusal, keepAlive: false), method: .get, reason: .connectionLimit)
            return nil
        }
        switch open(origin) {
        case .failure(let refused):
            refuse(refused.response, method: .get)
            return nil
        case .success(let opening):
            return opening
        }
    }

    /// Passes the connection to a transport.
    private func hand(_ connection: Connection, to transport: any ConnectionTransport) {
        self.connection = nil
        server.ended(self)
        connection.replaceHandler(transport)
    }

    // MARK: End

    /// Logs an end that is not the usual one; a client that leaves between two requests is usual.
    private func logEnd(_ reason: CloseReason) {
        guard !isIdleEnd, reason != .peerGone || isBusy, let connection,
            var trouble = ClientTrouble(ending: reason)
        else { return }
        let detail = connection.failureText
        // The health checks of balancers connect and send nothing.
        if reason == .tlsFailed && detail == Connection.endedHandshakeText { trouble = .gone }
        context.clientLog.write(trouble, nowMs: context.clock.nowMs) {
            [("reason", reason.rawValue)] + (detail.isEmpty ? [] : [("detail", detail)])
                + ClientLog.fields(pending?.caller, at: connection.address)
                + (connection.bytesUnsent > 0 ? [("bytes", "\(connection.bytesUnsent)")] : [])
        }
    }

    /// Whether the connection belongs to the private listener.
    var isOperations: Bool { role.isOperations }

    /// Closes a connection on which no request is under way.
    func closeIfIdle() {
        if !isBusy && pending == nil && !parser.isInsideRequest { connection?.close(.restart) }
    }

    /// Closes an idle connection; a request that did not arrive in time is answered with 408.
    public func deadlineReached() {
        guard let connection else { return }
        guard parser.isInsideRequest || pending != nil else {
            isIdleEnd = true
            return connection.close(.timeout)
        }
        refuse(.refusal(.requestTimeout("the request did not arrive in time")), method: nil, reason: .timeout)
    }

    /// Logs the end, and notifies the route whose answer is pending.
    public func ended(_ reason: CloseReason) {
        if reason == .strayProxyHeader || reason == .proxyHeader { server.proxyMismatched(reason, onTLS: isSecure) }
        logEnd(reason)
        if let connection {
            if isBusy { note(status: RequestNote.abandoned, by: pending?.caller) }
            context.accessLog?.ended(connection, .http, reason, by: nil, nowMs: context.clock.nowMs)
        }
        if isBusy { server.requestEnded() }
        isBusy = false
        let onAbandoned = onAbandoned
        self.onAbandoned = nil
        onAbandoned?()
        server.ended(self)
        connection = nil
        stash = []
    }
}
