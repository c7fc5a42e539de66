import Commands
import Core
import HTTPCodec
import Operations
import Reactors
import Rights
import Service
import Topics
import Transports

/// Decides from a request's head whether its body is read: path, rate of the address, credentials, rights.
///
/// A request refused here costs no memory for its body. Thread: the shard's.
struct RequestGate {
    /// An admitted request, and the maximum bytes of its body.
    struct Admitted {
        let request: HTTPRequest
        let bodyBytesMax: Int

        /// Whether the same head is admitted again as long as the keys are the same: that of a service with an API key.
        ///
        /// A token may expire or be revoked, and the requests of all others are counted.
        var isLasting: Bool { if case .service = request.caller { true } else { false } }
    }

    let context: HTTPContext
    let router: Router
    let role: ListenerRole

    /// Checks a head.
    func judge(_ head: HTTPRequestHead, _ origin: ClientAddress) -> Result<Admitted, Refusal> {
        let isPolling = context.dialects.entry(head.path, .packets) != nil
        guard let segments = RequestGate.segments(head, mayEndInSlash: isPolling) else {
            return .failure(Refusal(.badRequest, "the path is malformed"))
        }
        let match = GatewayRoutes.match(head.method, segments)
        let called = router.called(match, segments, head.method)
        let routes = context.answers.routes
        let place = isPolling ? AnsweredRoutes.Other.polling.rawValue : routes.place(match, called?.route)
        return caller(head, segments, match, called?.command, origin).map { caller in
            let limits = context.limits
            var bytesMax = caller.isAnonymous ? limits.anonymousBodyBytesMax : limits.bodyBytesMax
            if isPolling { bytesMax = PollingRoute.bodyBytesMax(limits) }
            return Admitted(
                request: HTTPRequest(
                    head: head,
                    judged: JudgedHead(segments: segments, match: match, place: place, caller: caller, origin: origin)),
                bodyBytesMax: min(bytesMax, limits.bodyBytesMax))
        }
    }

    /// The caller of the request, if it has the right to it.
    private func caller(
        _ head: HTTPRequestHead, _ segments: [String], _ match: GatewayRoutes.Match, _ command: CommandDescriptor?,
        _ origin: ClientAddress
    ) -> Result<Caller, Refusal> {
        let isJudged = command != nil || match.judged?.asksForCredentials == true || isOfInspector(match)
        if role.isOperations {
            guard isJudged else { return .success(.anonymous) }
            // A visitor's browser must not carry a foreign page's request to where the operator's data are.
            if let refusal = router.pages.refusalOfForeign(head, origin) { return .failure(refusal) }
        }
        let authenticator = context.gate.authenticator
        let credentials = Credentials(head)
        let holder = authenticator.keyHolder(credentials)
        if let refusal = tooManyRequests(origin.address, isService: holder?.isService == true) {
            return .failure(refusal)
        }
        // Pages and health checks are public, whatever their fields contain. A preflight request bears no credentials.
        if CrossOrigin.isPreflight(head) { return .success(.anonymous) }
        guard isJudged else { return .success(.anonymous) }
        let judged =
            (holder.map { .success($0) }
            ?? authenticator.bearer(credentials, now: context.clock.wallSeconds)).flatMap(context.gate.unlessRevoked)
        switch judged {
        case .failure(let refusal):
            context.credentialsRefused(refusal, head, origin)
            return .failure(refusal)
        case .success(let caller):
            if role.isOperations, !caller.isService {
                return .failure(Refusal(.unauthorized, "an API key is needed on this listener"))
            }
            if case .user = caller, !context.gate.knowsEveryRevocation {
                let text = "what was revoked is not read yet; try again"
                return .failure(Refusal(.unavailable, text, retryAfterMs: 1_000))
            }
            let rights = context.callRights
            if let route = match.judged, let refusal = rights.refusal(route, segments, caller) {
                return .failure(refusal)
            }
            if let command, let refusal = rights.refusal(command, caller) { return .failure(refusal) }
            return .success(caller)
        }
    }

    /// Whether metrics are asked for where the inspector is served to clients' listeners: there a key opens them.
    private func isOfInspector(_ match: GatewayRoutes.Match) -> Bool {
        context.options.servesInspector && !role.isOperations && match.judged?.name == .metrics
    }

    /// Refuses requests beyond an address's rate.
    ///
    /// A backend's key is checked before, since one backend may send requests for many users. A token is checked after,
    /// since checking it costs more.
    private func tooManyRequests(_ address: IPAddress?, isService: Bool) -> Refusal? {
        isService ? nil : context.refusalOfRate(address)
    }

    /// Empty segments are refused, not skipped: a proxy in front may have judged `//` differently.
    private static func segments(_ head: HTTPRequestHead, mayEndInSlash: Bool) -> [String]? {
        guard var segments = head.pathSegments else { return nil }
        if segments == [[]] { return [] }
        if mayEndInSlash, segments.last == [] { segments.removeLast() }
        return segments.contains([]) ? nil : segments.map { String(decoding: $0, as: UTF8.self) }
    }
}
