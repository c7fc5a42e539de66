import Commands
import Core
import Dialects
import HTTPCodec
import Reactors
import Rights
import Transport
import WebPages

/// The HTTP surface: which request goes to which room (design section 8).
///
/// Thread: the shard's.
final class Router {
    /// What an upgrade opens.
    enum Opening {
        /// The conformance echo.
        case echo
        /// A conversation in a dialect with that caller.
        case conversation(any Dialect, Caller)
        /// A session goes on that polled before.
        case move(PollingLine)
        /// The same, of a session on that shard.
        case moveElsewhere(Int, session: [UInt8])

        /// The caller that the upgrade's credentials name.
        var caller: Caller? {
            if case .conversation(_, let caller) = self { caller } else { nil }
        }

        /// What is spoken; `nil` for the echo.
        var dialect: (any Dialect)? {
            if case .conversation(let dialect, _) = self { dialect } else { nil }
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
    private let demo: DemoRoutes?
    let crossOrigin: CrossOrigin
    private let polling: PollingRoute

    init(shard: Shard) {
        self.shard = shard
        crossOrigin = CrossOrigin(origins: shard.node.origins)
        broadcast = BroadcastRoute(shard: shard)
        supabase = SupabaseRoute(shard: shard)
        topics = TopicRoute(shard: shard)
        operations = OperationsRoute(shard: shard)
        commands = CommandRoute(shard: shard)
        rights = RightsRoute(shard: shard)
        userData = UserDataRoute(shard: shard)
        deadLetters = DeadLetterRoute(shard: shard)
        health = HealthRoute(shard: shard)
        polling = PollingRoute(shard: shard)
        demo = shard.node.servesPages ? DemoRoutes(shard: shard) : nil
    }

    // MARK: At the head

    /// Whether a path looks at credentials at all.
    func asksForCredentials(_ segments: [String], _ method: HTTPMethod) -> Bool {
        if RightsRoute.owns(segments) || UserDataRoute.owns(segments) || DeadLetterRoute.owns(segments)
            || HealthRoute.owns(segments) || BroadcastRoute.owns(segments) || Router.isTopic(segments)
            || Router.isCommand(segments) || SupabaseRoute.owns(segments)
        {
            return true
        }
        return commands.route(method, segments) != nil
    }

    /// Why a caller may not ask what it asks, as far as the head tells; `nil` when it may, or the path decides later.
    func refusal(_ segments: [String], _ method: HTTPMethod, _ caller: Caller) -> Refusal? {
        if RightsRoute.owns(segments) { return RightsRoute.refusal(segments, caller) }
        if UserDataRoute.owns(segments) { return UserDataRoute.refusal(segments, caller) }
        if DeadLetterRoute.owns(segments) { return DeadLetterRoute.refusal(caller) }
        if HealthRoute.owns(segments) { return HealthRoute.refusal(caller) }
        if BroadcastRoute.owns(segments) { return BroadcastRoute.refusal(caller) }
        if SupabaseRoute.owns(segments) { return SupabaseRoute.refusal(caller) }
        if caller.isAnonymous && !shard.node.allowsAnonymous {
            return Refusal(.unauthorized, "a token or an API key is needed")
        }
        if Router.isTopic(segments) { return nil }
        let command = Router.isCommand(segments) ? commands.command(segments[2]) : commands.route(method, segments)
        return command?.rights.refusal(CommandCaller(caller).role)
    }

    /// How a path's clients are told that they may not ask.
    func refused(_ refusal: Refusal, _ head: HTTPRequestHead, keepAlive: Bool) -> HTTPResponse {
        let segments = head.pathSegments?.map { String(decoding: $0, as: UTF8.self) } ?? []
        // What is malformed is told as everywhere.
        guard refusal.code != .badRequest, SupabaseRoute.owns(segments) else {
            return .refusal(refusal, keepAlive: keepAlive)
        }
        return SupabaseAnswer.refused(refusal, keepAlive: keepAlive)
    }

    /// How refusals of a request look where a pack says so; `nil`: as everywhere.
    func retelling(_ head: HTTPRequestHead) -> ErrorRetelling? {
        let errors = shard.node.library.routeErrors
        guard !errors.isEmpty, let segments = head.pathSegments?.map({ String(decoding: $0, as: UTF8.self) }),
            let own = errors.first(where: { $0.owns(segments) })
        else { return nil }
        return ErrorRetelling(errors: own, head: head, log: shard.node.log)
    }

    private static func isTopic(_ segments: [String]) -> Bool {
        segments.starts(with: ["v1", "topics"]) && segments.count >= 3
    }

    private static func isCommand(_ segments: [String]) -> Bool {
        segments.count == 3 && segments.starts(with: ["v1", "commands"])
    }

    // MARK: Answers

    /// Answers a request, now or later.
    func route(_ request: HTTPRequest, door: HTTPPeer.Door, _ respond: @escaping Respond) {
        let segments = request.segments
        if case .front = door, CrossOrigin.isPreflight(request.head) {
            return respond(crossOrigin.preflight(request.head))
        }
        switch door {
        case .operations:
            if operations.answers(request, isPrivate: true, respond) { return }
        case .front(let servesOperations):
            if servesOperations && operations.answers(request, isPrivate: false, respond) { return }
            if polling.owns(request.head.path) { return polling.answer(request, respond) }
            if BroadcastRoute.owns(segments) { return broadcast.answer(request, respond) }
            if SupabaseRoute.owns(segments) { return supabase.answer(request, respond) }
            if RightsRoute.owns(segments) { return rights.answer(request, respond) }
            if UserDataRoute.owns(segments) { return userData.answer(request, respond) }
            if DeadLetterRoute.owns(segments) { return deadLetters.answer(request, respond) }
            if HealthRoute.owns(segments) { return health.answer(request, respond) }
            if Router.isTopic(segments) { return topics.answer(request, respond) }
            if Router.isCommand(segments) { return commands.answer(request, name: segments[2], respond) }
            if segments == ["v1", "openapi.json"] { return respond(description(request)) }
            if commands.answers(request, respond) { return }
            if shard.node.openings.opensWebSocket(request.head) {
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

    private func description(_ request: HTTPRequest) -> HTTPResponse {
        guard request.head.method == .get || request.head.method == .head else {
            return .methodNotAllowed([.get, .head], keepAlive: true)
        }
        return .json(status: 200, body: shard.node.openAPI, keepAlive: true)
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

    // MARK: Conversations

    /// Why no conversation begins: the status beside the error.
    struct RefusedOpening: Error {
        let status: Int
        let refusal: Refusal
        /// How the dialect of the path writes it.
        var written: @Sendable (Refusal, Int) -> HTTPResponse = { .refusal($0, status: $1, keepAlive: false) }

        init(_ refusal: Refusal, status: Int? = nil) {
            self.refusal = refusal
            self.status = status ?? refusal.code.httpStatus
        }

        var response: HTTPResponse { written(refusal, status) }
    }

    /// Decides an upgrade: path, origin, credentials.
    func openWebSocket(_ head: HTTPRequestHead, _ origin: RequestOrigin) -> Result<Opening, RefusedOpening> {
        if head.path.elementsEqual("/echo".utf8) && shard.node.servesEcho { return .success(.echo) }
        guard let entry = shard.node.openings.entry(head, .webSocket) else {
            return .failure(RefusedOpening(Refusal(.notFound, "no WebSocket is opened at this path; use /ws")))
        }
        if polling.owns(head.path), let session = EngineRequest.movingSession(head) {
            if let refusal = originRefusal(head, origin) { return .failure(RefusedOpening(refusal)) }
            if let home = shard.polling.home(session), home != shard.index {
                return .success(.moveElsewhere(home, session: session))
            }
            if shard.polling.hops.home(of: session) != nil {
                // The client goes on polling, which is relayed; a WebSocket would cost Redis each frame.
                let text = "the session lives on another node; go on polling"
                return .failure(RefusedOpening(Refusal(.badRequest, text)))
            }
            guard let line = shard.polling.mover(session) else {
                return .failure(RefusedOpening(Refusal(.badRequest, "\(EngineRequest.Fault.session.message)")))
            }
            return .success(.move(line))
        }
        return open(entry, head, origin).mapError { refused in
            var refused = refused
            refused.written = entry.refused
            return refused
        }
    }

    /// Decides who may begin a conversation: origin, what is spoken, credentials.
    func open(
        _ entry: OpeningTable.Entry, _ head: HTTPRequestHead, _ origin: RequestOrigin
    ) -> Result<Opening, RefusedOpening> {
        if let refusal = originRefusal(head, origin) { return .failure(RefusedOpening(refusal)) }
        let rights = shard.node.rights
        let dialect: any Dialect
        switch entry.dialect(head) {
        case .failure(let refusal): return .failure(RefusedOpening(refusal))
        case .success(let spoken): dialect = spoken
        }
        let judged = rights.authenticator.caller(entry.credentials(head), now: shard.wallSeconds)
        switch judged.flatMap(shard.node.unlessRevoked) {
        case .failure(let refusal):
            shard.statistics.authenticationFailures.add(1)
            shard.node.clientLog.write(.credentials, nowMs: shard.nowMs) {
                [("reason", refusal.name), ("error", refusal.message), ("path", ClientLog.text(head.path))]
                    + ClientLog.fields(nil, at: origin.address)
            }
            return .failure(RefusedOpening(refusal))
        case .success(let caller):
            // Clients that show a token at each door are judged there.
            if !entry.authenticatesAtDoors, case .failure(let refusal) = shard.node.unlessAnonymous(caller) {
                return .failure(RefusedOpening(refusal))
            }
            return .success(.conversation(dialect, caller))
        }
    }

    /// Why a page may not ask for what the gateway gives to its own machine; `nil` when it is no page of elsewhere.
    func foreignPage(_ head: HTTPRequestHead, _ origin: RequestOrigin) -> Refusal? {
        let rights = shard.node.rights
        if shard.node.origins.isOwn(host: head.host, isOwnName: { rights.certificate?.isNamed($0) ?? false }) {
            return originRefusal(head, origin)
        }
        refuseOrigin(head, origin)
        return Refusal(
            .forbidden, "Host is no name of this gateway: ask by an address, localhost, or a name of its certificate.")
    }

    private func refuseOrigin(_ head: HTTPRequestHead, _ origin: RequestOrigin) {
        shard.statistics.originsRefused.add(1)
        shard.node.clientLog.write(.origin, nowMs: shard.nowMs) {
            [
                ("origin", ClientLog.text(head.headers.values(of: "origin").first ?? [])),
                ("host", ClientLog.text(head.host)), ("path", ClientLog.text(head.path)),
            ] + ClientLog.fields(nil, at: origin.address)
        }
    }

    private func originRefusal(_ head: HTTPRequestHead, _ origin: RequestOrigin) -> Refusal? {
        let rights = shard.node.rights
        let verdict = shard.node.origins.judge(
            origins: head.headers.values(of: "origin"), host: head.host, secure: origin.isSecure,
            isOwnName: { rights.certificate?.isNamed($0) ?? false })
        guard let refusal = verdict.refusal else { return nil }
        refuseOrigin(head, origin)
        return refusal
    }
}
