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
        /// The place of its answer among the counters, unless the request was refused.
        var place: Int? { if case .success(let request) = verdict { request.judged.place } else { nil } }
    }

    unowned let server: HTTPServer
    let role: ListenerRole
    let isSecure: Bool
    var connection: Connection?
    private var parser: HTTPRequestParser
    /// The request whose body or answer is pending, with the verdict on its head.
    private var pending: Pending?
    /// The verdict on the head that the parser recognises; `nil` until a backend was admitted.
    private var standing: StandingVerdict?
    /// The last request's fields for pages of other origins; responses to malformed requests bear none.
    var crossOrigin: [HTTPResponse.Field] = []
    /// The form of a refusal of the request under way; `nil`: the usual form.
    private var rewriter: ErrorRewriter?
    /// The request under way, for the log; `nil` between two requests.
    private var asked: AskedRequest?
    /// Whether the connection ends because no further request arrived.
    private var isIdleEnd = false
    /// The part of a request that has a deadline.
    private enum Awaited {
        case nothing
        case head
        case body
    }
    private var awaited = Awaited.nothing
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

    var context: HTTPContext { server.context }

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
        // A request that arrives at once needs no deadline of its own.
        defer { if connection?.isOpen == true { setDeadline() } }
        while let connection, connection.isOpen, let event = parser.next(bytes, at: &position) {
            switch event {
            case .head(let head):
                if let standing, standing.covers(head, context.gate) {
                    asked = AskedRequest(
                        head: head, origin: standing.admitted.request.origin, atMs: context.clock.nowMs)
                    (crossOrigin, rewriter) = (standing.crossOrigin, standing.rewriter)
                    guard begin(standing.admitted, head, connection) else { return }
                    continue
                }
                let asked = AskedRequest(head: head, origin: origin(head), atMs: context.clock.nowMs)
                self.asked = asked
                if case .front = role {
                    crossOrigin = server.router.crossOrigin.fields(head)
                    rewriter = server.router.rewriter(head)
                }
                if let upgrade = head.upgrade {
                    return openWebSocket(asked, upgrade, rest: bytes, from: position)
                }
                if head.method == .get, head.body == .none, case .front = role,
                    let entry = context.dialects.entry(head, .eventStream)
                {
                    return openStream(asked, entry, rest: bytes.count - position)
                }
                guard take(asked, connection) else { return }
            case .body(let body):
                guard let pending else { return connection.abort(.internalError) }
                isBusy = true
                awaited = .nothing
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

    /// Sets the deadline of a request's unread part once, when its head or its body is the first part to wait for.
    private func setDeadline() {
        let now: Awaited = pending != nil && !isBusy ? .body : parser.isInsideRequest ? .head : .nothing
        guard now != awaited else { return }
        awaited = now
        switch now {
        case .nothing: break
        case .head: connection?.setDeadline(at: context.clock.nowMs + context.limits.requestHeadMs)
        case .body: connection?.setDeadline(at: context.clock.nowMs + context.limits.requestBodyMs)
        }
    }

    // MARK: Answers

    /// Checks a head; false when the request was refused for it and its body is not read.
    private func take(_ asked: AskedRequest, _ connection: Connection) -> Bool {
        let head = asked.head
        let keysVersion = context.gate.keysVersion
        switch RequestGate(context: context, router: server.router, role: role).judge(head, asked.origin) {
        case .failure(let refusal):
            pending = Pending(head: head, verdict: .failure(refusal))
            guard head.body != .none else { return true }
            context.statistics.requests.add(1)
            refuse(server.router.refused(refusal, head, keepAlive: false), method: head.method)
            return false
        case .success(let admitted):
            if admitted.isLasting {
                parser.keepHead()
                standing = StandingVerdict(admitted, rewriter, crossOrigin, keysVersion: keysVersion)
            }
            return begin(admitted, head, connection)
        }
    }

    /// Begins an admitted request; false when its body is too long.
    private func begin(
        _ admitted: RequestGate.Admitted, _ head: HTTPRequestHead, _ connection: Connection
    ) -> Bool {
        var request = admitted.request
        request.head = head
        pending = Pending(head: head, verdict: .success(request))
        if let failure = parser.limitBody(to: admitted.bodyBytesMax) {
            refuse(.refusal(failure), method: head.method)
            return false
        }
        if head.expectsContinue { _ = connection.send(HTTPResponse.continue100) }
        return true
    }

    private func answer(_ pending: Pending, _ body: [UInt8]) {
        context.statistics.requests.add(1)
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
        let (caller, place) = (pending?.caller, pending?.place)
        pending = nil
        isBusy = false
        onAbandoned = nil
        server.requestEnded()
        rewriter = nil
        note(response, failure, caller, place)
        guard response.keepAlive else { return finish(response, method: head.method, reason: .httpDone) }
        guard connection.send(encoded(response, for: head.method)) else { return connection.close(.slowConsumer) }
        connection.setDeadline(at: context.clock.nowMs + context.limits.keepAliveMs)
        guard !isProcessing else { return }
        // The data that the client sent ahead is next; it may make this connection busy again.
        let ahead = stash
        stash = []
        if !ahead.isEmpty { process(ahead.span) }
        if !isBusy { connection.resumeReading() }
    }

    /// Answers and ends the connection.
    func refuse(_ response: HTTPResponse, method: HTTPMethod?, reason: CloseReason = .httpRefused) {
        let rewritten = rewriter?.rewritten(response) ?? response
        note(rewritten, response.failure, pending?.caller, pending?.place, isReported: reason == .connectionLimit)
        finish(rewritten, method: method, reason: reason)
    }

    private func finish(_ response: HTTPResponse, method: HTTPMethod?, reason: CloseReason) {
        var response = response
        response.keepAlive = false
        connection?.close(reason, last: encoded(response, for: method))
    }

    /// The bytes of a response, with the fields that every one has: for pages of other origins, for caches, and for
    /// browsers on TLS.
    private func encoded(_ response: HTTPResponse, for method: HTTPMethod?) -> [UInt8] {
        var response = response
        if !crossOrigin.isEmpty { CrossOrigin.add(crossOrigin, to: &response) }
        return response.encoded(
            for: method, followedBy: server.standingFields(isCached: response.has(.cacheControl), isSecure: isSecure))
    }

    /// Logs a response; `failure` is its error before a pack rewrote it.
    private func note(
        _ response: HTTPResponse, _ failure: HTTPResponse.Failure?, _ caller: Caller?, _ place: Int?,
        isReported: Bool = false
    ) {
        note(
            status: response.status, bytes: response.body.count, failure, by: caller, at: place, isReported: isReported)
    }

    /// Counts and logs an answer; `place` is that among the counters, `nil` where it follows from the head.
    func note(
        status: Int, bytes: Int = 0, _ failure: HTTPResponse.Failure? = nil, by caller: Caller?, at place: Int?,
        isReported: Bool = false
    ) {
        guard let connection else { return }
        context.answers.add(place ?? server.router.place(asked?.head), status: status)
        defer { asked = nil }
        guard RequestNote.isWritten(status: status, to: context) else { return }
        let address = asked.map(\.origin.address) ?? connection.address
        let tookMs = asked.map { context.clock.nowMs - $0.atMs } ?? 0
        RequestNote(
            head: asked?.head, caller: caller, address: address, status: status, failure: failure, bytes: bytes,
            tookMs: tookMs, connection: connection.number, isReported: isReported
        ).write(to: context)
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
        // The answer of a request is its route's concern, which has deadlines of its own.
        guard let connection, !isBusy else { return }
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
            if isBusy { note(status: RequestNote.abandoned, by: pending?.caller, at: pending?.place) }
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
