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
        /// A session of a dialect, by number.
        case session(variant: Int, Caller)
    }

    private unowned let shard: Shard
    private let broadcast: BroadcastRoute
    private let topics: TopicRoute
    private let operations: OperationsRoute
    private let commands: CommandRoute
    private let guests: GuestRoute?

    init(shard: Shard) {
        self.shard = shard
        broadcast = BroadcastRoute(shard: shard)
        topics = TopicRoute(shard: shard)
        operations = OperationsRoute(shard: shard)
        commands = CommandRoute(shard: shard)
        guests = shard.node.guests.map { GuestRoute(shard: shard, guests: $0) }
    }

    /// Answers a request, now or later.
    func route(_ request: HTTPRequest, door: HTTPPeer.Door, _ respond: @escaping Respond) {
        let segments = request.segments
        switch door {
        case .operations:
            if operations.answers(request, respond) { return }
        case .front(let servesOperations):
            if servesOperations && operations.answers(request, respond) { return }
            if segments == ["v1", "broadcast"] { return broadcast.answer(request, shape: .native, respond) }
            if segments == ["realtime", "v1", "api", "broadcast"] {
                return broadcast.answer(request, shape: .supabase, respond)
            }
            if segments.starts(with: ["v1", "topics"]) && segments.count >= 3 {
                return topics.answer(request, respond)
            }
            if segments.count == 3 && segments.starts(with: ["v1", "commands"]) {
                return commands.answer(request, name: segments[2], respond)
            }
            if segments == ["v1", "openapi.json"] { return respond(description(request)) }
            if commands.answers(request, respond) { return }
            if NativeDialect.paths.contains("/" + segments.joined(separator: "/")) {
                return respond(
                    .refusal(
                        Refusal(.badRequest, "this path opens a WebSocket; send an upgrade"), status: 426,
                        keepAlive: true))
            }
            if let guests, segments == ["demo", "guest"] { return guests.answer(request, respond) }
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

    // MARK: WebSocket

    /// Why an upgrade was refused: the status beside the error.
    struct RefusedUpgrade: Error {
        let status: Int
        let refusal: Refusal

        init(_ refusal: Refusal, status: Int? = nil) {
            self.refusal = refusal
            self.status = status ?? refusal.code.httpStatus
        }
    }

    /// Decides an upgrade: path, origin, credentials.
    func openWebSocket(_ head: HTTPRequestHead, isSecure: Bool) -> Result<Opening, RefusedUpgrade> {
        let path = String(decoding: head.path, as: UTF8.self)
        if path == "/echo" && shard.node.servesEcho { return .success(.echo) }
        guard let variant = shard.node.dialectPaths[path] else {
            return .failure(RefusedUpgrade(Refusal(.notFound, "no WebSocket is opened at this path; use /ws")))
        }
        let verdict = shard.node.origins.judge(
            origins: head.headers.values(of: "origin"), host: head.host, secure: isSecure)
        if let refusal = verdict.refusal { return .failure(RefusedUpgrade(refusal)) }
        switch Credentials.caller(
            head.headers, service: Credentials.service(head.headers, node: shard.node), node: shard.node,
            wallSeconds: shard.wallSeconds)
        {
        case .failure(let refusal):
            shard.statistics.authenticationFailures.add(1)
            return .failure(RefusedUpgrade(refusal))
        case .success(.anonymous) where !shard.node.allowsAnonymous:
            return .failure(RefusedUpgrade(Refusal(.unauthorized, "a token is needed")))
        case .success(let caller):
            return .success(.session(variant: variant, caller))
        }
    }
}
