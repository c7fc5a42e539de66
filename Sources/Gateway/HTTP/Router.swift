import Commands
import Core
import Dialects
import HTTPCodec
import Reactors
import Rights
import Transport
import WebPages

/// The HTTP interface: dispatches each request to its route.
///
/// Thread: the shard's.
final class Router {
    /// The result of an upgrade.
    enum Opening {
        /// The conformance echo.
        case echo
        /// A new session in a dialect, with that caller.
        case machine(any Dialect, Caller)
        /// Resumes a session that was using long polling.
        case move(PollingTransport)
        /// The same, for a session on that shard.
        case moveElsewhere(Int, session: [UInt8])

        /// The caller that the upgrade's credentials name.
        var caller: Caller? {
            if case .machine(_, let caller) = self { caller } else { nil }
        }

        /// The dialect; `nil` for the echo.
        var dialect: (any Dialect)? {
            if case .machine(let dialect, _) = self { dialect } else { nil }
        }
    }

    private unowned let shard: Shard
    private let broadcast: BroadcastRoute
    private let supabase: SupabaseRoute
    private let topics: TopicRoute
    private let operations: OperationsRoute
    private let commands: CommandRoute
    private let rights: RightsRoute
    private let userData: UserDataRoute
    private let deadLetters: DeadLetterRoute
    private let health: HealthRoute
    private let description: OpenAPIRoute
    private let demo: DemoRoutes?
    let crossOrigin: CrossOrigin
    private let polling: PollingRoute

    init(shard: Shard) {
        self.shard = shard
        crossOrigin = CrossOrigin(origins: shard.node.gate.origins)
        broadcast = BroadcastRoute(shard: shard)
        supabase = SupabaseRoute(shard: shard)
        topics = TopicRoute(shard: shard)
        operations = OperationsRoute(shard: shard)
        commands = CommandRoute(shard: shard)
        rights = RightsRoute(shard: shard)
        userData = UserDataRoute(shard: shard)
        deadLetters = DeadLetterRoute(shard: shard)
        health = HealthRoute(shard: shard)
        description = OpenAPIRoute(shard: shard)
        polling = PollingRoute(shard: shard)
        demo = shard.node.servesPages ? DemoRoutes(shard: shard) : nil
    }

    // MARK: Request heads

    /// The command that a request calls, by its name or by a route of its own; `nil` for any other request.
    func command(
        _ match: GatewayRoutes.Match, _ segments: [String], _ method: HTTPMethod
    ) -> CommandDescriptor? {
        switch match.judged?.name {
        case .command: commands.command(segments[2])
        case nil: commands.route(method, segments)
        default: nil
        }
    }

    /// The refusal of a request, in the form for the path's clients.
    func refused(_ refusal: Refusal, _ head: HTTPRequestHead, keepAlive: Bool) -> HTTPResponse {
        let segments = head.pathSegments?.map { String(decoding: $0, as: UTF8.self) } ?? []
        // The response to a malformed request has the same form everywhere.
        let route = GatewayRoutes.match(head.method, segments).judged
        guard refusal.code != .badRequest, route?.isRealtime == true else {
            return .refusal(refusal, keepAlive: keepAlive)
        }
        return SupabaseAnswer.refused(refusal, keepAlive: keepAlive)
    }

    /// The pack's form of refusals of a request; `nil`: the usual form.
    func retelling(_ head: HTTPRequestHead) -> ErrorRewriter? {
        let errors = shard.node.library.routeErrors
        guard !errors.isEmpty, let segments = head.pathSegments?.map({ String(decoding: $0, as: UTF8.self) }),
            let own = errors.first(where: { $0.owns(segments) })
        else { return nil }
        return ErrorRewriter(errors: own, head: head, log: shard.node.log)
    }

    // MARK: Answers

    /// Answers a request, now or later.
    func route(_ request: HTTPRequest, role: HTTPPeer.ListenerRole, _ respond: @escaping Respond) {
        let segments = request.segments
        if case .front = role, CrossOrigin.isPreflight(request.head) {
            return respond(crossOrigin.preflight(request.head))
        }
        switch role {
        case .operations:
            if operations.answers(request, isPrivate: true, respond) { return }
        case .front(let servesOperations):
            if polling.owns(request.head.path) { return polling.answer(request, respond) }
            switch request.match {
            case .route(let route):
                if answer(route, request, servesOperations: servesOperations, respond) { return }
            case .otherMethods(let methods, let route):
                if !route.isOfOperations || servesOperations {
                    return respond(.methodNotAllowed(methods, keepAlive: true))
                }
            case .none:
                if commands.answers(request, respond) { return }
            }
            if shard.node.dialects.opensWebSocket(request.head) {
                return respond(
                    .refusal(
                        Refusal(.badRequest, "this path opens a WebSocket; send an upgrade"), status: 426,
                        keepAlive: true))
            }
            if let demo, segments.first == "demo" {
                if let refusal = foreignPage(request.head, request.origin) {
                    return respond(.refusal(refusal, keepAlive: true))
                }
                if demo.answers(request, respond) { return }
            }
            if shard.node.servesPages, let page = page(request) { return respond(page) }
        }
        respond(.refusal(Refusal(.notFound, "there is no such path"), keepAlive: true))
    }

    /// Answers a request to one of the gateway's own routes; false where this listener does not serve it.
    private func answer(
        _ route: GatewayRoute, _ request: HTTPRequest, servesOperations: Bool, _ respond: @escaping Respond
    ) -> Bool {
        switch route.name {
        case .livez, .readyz, .metrics:
            return servesOperations && operations.answers(request, isPrivate: false, respond)
        case .broadcast: broadcast.answer(request, respond)
        case .realtimeBroadcast: supabase.answer(request, isBatch: true, respond)
        case .realtimeBroadcastOne: supabase.answer(request, isBatch: false, respond)
        case .topic: topics.answer(request, .summary, respond)
        case .events: topics.answer(request, .events, respond)
        case .presence: topics.answer(request, .presence, respond)
        case .audit: topics.answer(request, .audit, respond)
        case .addMember, .removeMember: rights.changeMember(request, respond)
        case .revoke: rights.revoke(request, respond)
        case .exportUser, .eraseUser: userData.answer(request, respond)
        case .deadLetters, .dropDeadLetters, .retryDeadLetters: deadLetters.answer(request, respond)
        case .health: health.answer(respond)
        case .openAPI: description.answer(request, respond)
        case .command: commands.answer(request, name: request.segments[2], respond)
        }
        return true
    }

    private func page(_ request: HTTPRequest) -> HTTPResponse? {
        guard let file = WebPages.files["/" + request.segments.joined(separator: "/")] else { return nil }
        guard request.head.method == .get || request.head.method == .head else {
            return .methodNotAllowed([.get, .head], keepAlive: true)
        }
        var response = HTTPResponse.typed(
            HTTPHeaderValue(file.contentType) ?? "text/plain", status: 200, body: file.bytes, keepAlive: true)
        response.set(.contentSecurityPolicy, HTTPHeaderValue(WebPages.contentSecurityPolicy) ?? "default-src 'none'")
        response.set(.cacheControl, "no-cache")
        response.set(.referrerPolicy, "no-referrer")
        return response
    }

    // MARK: Upgrades

    /// The refusal of an upgrade or stream, with the status of the response.
    struct RefusedEntry: Error {
        let status: Int
        let refusal: Refusal
        /// Writes the refusal in the form of the path's dialect.
        var written: @Sendable (Refusal, Int) -> HTTPResponse = { .refusal($0, status: $1, keepAlive: false) }

        init(_ refusal: Refusal, status: Int? = nil) {
            self.refusal = refusal
            self.status = status ?? refusal.code.httpStatus
        }

        var response: HTTPResponse { written(refusal, status) }
    }

    /// Checks an upgrade: path, origin, credentials.
    func openWebSocket(_ head: HTTPRequestHead, _ origin: ClientAddress) -> Result<Opening, RefusedEntry> {
        if head.path.elementsEqual("/echo".utf8) && shard.node.servesEcho { return .success(.echo) }
        guard let entry = shard.node.dialects.entry(head, .webSocket) else {
            return .failure(RefusedEntry(Refusal(.notFound, "no WebSocket is opened at this path; use /ws")))
        }
        if polling.owns(head.path), let session = EngineRequest.movingSession(head) {
            if let refusal = originRefusal(head, origin) { return .failure(RefusedEntry(refusal)) }
            if let home = shard.polling.home(session), home != shard.index {
                return .success(.moveElsewhere(home, session: session))
            }
            if shard.polling.relay.home(of: session) != nil {
                // The client continues polling, which is relayed; a WebSocket would cost Redis each frame.
                let text = "the session lives on another node; go on polling"
                return .failure(RefusedEntry(Refusal(.badRequest, text)))
            }
            guard let transport = shard.polling.mover(session) else {
                return .failure(RefusedEntry(Refusal(.badRequest, "\(EngineRequest.Fault.session.message)")))
            }
            return .success(.move(transport))
        }
        return open(entry, head, origin).mapError { refused in
            var refused = refused
            refused.written = entry.refused
            return refused
        }
    }

    /// Checks a request that opens a session: origin, dialect, credentials.
    func open(
        _ entry: DialectRegistry.Entry, _ head: HTTPRequestHead, _ origin: ClientAddress
    ) -> Result<Opening, RefusedEntry> {
        if let refusal = originRefusal(head, origin) { return .failure(RefusedEntry(refusal)) }
        let dialect: any Dialect
        switch entry.dialect(head) {
        case .failure(let refusal): return .failure(RefusedEntry(refusal))
        case .success(let spoken): dialect = spoken
        }
        let judged = shard.node.gate.authenticator.caller(entry.credentials(head), now: shard.wallSeconds)
        switch judged.flatMap(shard.node.gate.unlessRevoked) {
        case .failure(let refusal):
            shard.statistics.authenticationFailures.add(1)
            shard.node.clientLog.write(.credentials, nowMs: shard.nowMs) {
                [("reason", refusal.name), ("error", refusal.message), ("path", ClientLog.text(head.path))]
                    + ClientLog.fields(nil, at: origin.address)
            }
            return .failure(RefusedEntry(refusal))
        case .success(let caller):
            // Clients that show a token for each session are checked there.
            if !entry.authenticatesSessions, case .failure(let refusal) = shard.node.gate.unlessAnonymous(caller) {
                return .failure(RefusedEntry(refusal))
            }
            return .success(.machine(dialect, caller))
        }
    }

    /// The refusal of a foreign page's request for data that only this machine may read; `nil` for other requests.
    func foreignPage(_ head: HTTPRequestHead, _ origin: ClientAddress) -> Refusal? {
        if shard.node.gate.isOwnHost(head) { return originRefusal(head, origin) }
        refuseOrigin(head, origin)
        return Refusal(
            .forbidden, "Host is no name of this gateway: ask by an address, localhost, or a name of its certificate.")
    }

    private func refuseOrigin(_ head: HTTPRequestHead, _ origin: ClientAddress) {
        shard.statistics.originsRefused.add(1)
        shard.node.clientLog.write(.origin, nowMs: shard.nowMs) {
            [
                ("origin", ClientLog.text(head.headers.values(of: "origin").first ?? [])),
                ("host", ClientLog.text(head.host)), ("path", ClientLog.text(head.path)),
            ] + ClientLog.fields(nil, at: origin.address)
        }
    }

    private func originRefusal(_ head: HTTPRequestHead, _ origin: ClientAddress) -> Refusal? {
        guard let refusal = shard.node.gate.refusalOfOrigin(head, isSecure: origin.isSecure) else { return nil }
        refuseOrigin(head, origin)
        return refusal
    }
}
