import Core
import Dialects
import Rights
import Traces

/// The requests and rights of one client session: input and time in, actions out.
///
/// The client's last request on a topic wins, and each request is answered once. A subscribe request that a later
/// request replaces before its answer gets a `conflict`. A live subscription is left only when the next one has passed
/// limits, rate and rights, and the budget was charged. Events do not pass through here. Pure.
struct SessionState {
    let rules: SessionRules
    private(set) var caller: Caller
    /// The client's address; its budget is charged for a client without other credentials.
    let address: IPAddress?
    var holdings = Few<Holding>()
    /// Topics that the other sessions of the connection hold.
    var heldBesides = 0
    /// Pending questions to Redis for memberships.
    var questions: [Topic: MembershipQuestion] = [:]
    /// Publishes that wait for a question, and the bytes of their data.
    var heldPublishes = (count: 0, bytes: 0)
    private var rareFollowings = Rare<Followings>()
    private var rareAllowance = Rare<FollowAllowance>()
    /// The number of the last replay, by which answers are matched to reads.
    var replayNumber = 0
    /// Whether the client has authenticated or subscribed, and so is more than an open socket.
    private(set) var isEstablished = false
    private var isClosed = false
    private var messages: RateLadder
    var joins: TokenBucket
    private var authentications: TokenBucket
    private var idleMs: Int
    private var warningMs = Int.max
    private var expiryMs = Int.max
    private(set) var nowMs: Int
    var actions: [SessionAction] = []

    /// The state of a client with that address; `nowMs` is monotonic.
    ///
    /// Call ``begin(wallMs:)`` for the actions that its credentials cause.
    init(_ rules: SessionRules, caller: Caller, address: IPAddress?, nowMs: Int) {
        self.rules = rules
        self.caller = caller
        self.address = address
        self.nowMs = nowMs
        messages = RateLadder(rules.messageRate, nowMs: nowMs)
        joins = TokenBucket(rules.joinRate, nowMs: nowMs)
        authentications = TokenBucket(rules.authenticationRate, nowMs: nowMs)
        idleMs = nowMs + rules.limits.authenticateMs
    }

    var limits: Limits { rules.limits }

    /// The topics that the user's own topic follows; `nil` unless the client has asked for that topic.
    var followings: Followings? {
        get { rareFollowings.value }
        _modify { yield &rareFollowings.value }
    }

    /// The budget for following; `nil` until the client follows something.
    var followAllowance: FollowAllowance? {
        get { rareAllowance.value }
        _modify { yield &rareAllowance.value }
    }

    /// Takes an input and returns the actions to perform.
    ///
    /// After a `close` action, every input but the end of the connection is ignored.
    mutating func take(_ input: SessionInput, nowMs: Int) -> [SessionAction] {
        self.nowMs = nowMs
        if case .ended = input { end() } else if !isClosed { handle(input) }
        defer { actions = [] }
        return actions
    }

    private mutating func handle(_ input: SessionInput) {
        switch input {
        case .message(let message): received(message)
        case .proven: establish()
        case .verified(let result, let isRefresh, let wallMs, let ref):
            verified(result, isRefresh: isRefresh, wallMs: wallMs, ref: ref)
        case .membership(let topic, let result): membership(topic, result)
        case .follows(let number, let result): follows(number, result)
        case .replayed(let topic, let number, let result): replayed(topic, number, result)
        case .followsChanged: readFollows()
        case .published(let topic, let result, let ref): published(topic, result, ref: ref)
        case .tracked(let topic, let result, let isNew, let ref): tracked(topic, result, isNew: isNew, ref: ref)
        case .answered(let result, let ref): answered(result, ref: ref)
        case .joined(let topic): joined(topic)
        case .joinRefused(let topic, let refusal): joinRefused(topic, refusal)
        case .withdrawn(let topic, let refusal): withdraw(topic, refusal)
        case .revoked(let failure): revoked(failure)
        case .gap(let topic, let position, let reason): missed(topic, position, reason)
        case .deadline: deadlineReached()
        case .ended: break
        }
    }

    // MARK: Messages

    private mutating func received(_ message: Result<ClientRequest, DialectRefusal>) {
        let step = caller.isService ? .serve : messages.take(of: rules.messageRate, nowMs: nowMs)
        switch (message, step) {
        case (.success(let request), .refuse(let retryAfterMs)):
            rateLimited("more than \(limits.messagesPerSecond) messages a second", retryAfterMs, ref: request.ref)
        case (.success(let request), _):
            perform(request)
        case (.failure(let failure), _):
            refuse(failure.refusal, ref: failure.ref)
            if let reason = failure.close { close(reason) }
        }
        if step == .serveAndWarn { warn() }
    }

    private mutating func warn() {
        actions.append(.count(.rateWarned))
        let perSecond = limits.messagesPerSecond
        let text = "close to \(perSecond) messages a second; beyond, they are served later or refused"
        send(.warning(code: .rateLimited, message: text, perSecond: perSecond), ref: nil)
    }

    /// Milliseconds for which the transport must not read from the client, since it sends too fast; 0 when it may read.
    func readDelayMs(nowMs: Int) -> Int {
        isClosed ? 0 : messages.delayMs(of: rules.messageRate, nowMs: nowMs)
    }

    private mutating func perform(_ request: ClientRequest) {
        let ref = request.ref
        switch request.command {
        case .ping: send(.pong, ref: ref)
        case .authenticate(let token): authenticate(token, isRefresh: false, ref: ref)
        case .refresh(let token): authenticate(token, isRefresh: true, ref: ref)
        case .subscribe(let requests): subscribe(requests, ref: ref)
        case .unsubscribe(let topics): for topic in topics { unsubscribe(topic, ref: ref) }
        case .publish(let request): publish(request, ref: ref)
        case .track(let request): track(request, ref: ref)
        case .untrack(let topic): untrack(topic, ref: ref)
        case .command(let name, let arguments):
            actions.append(.run(name: name, arguments: arguments, operation: request.operation, ref))
        }
    }

    // MARK: Identity

    private mutating func authenticate(_ token: [UInt8], isRefresh: Bool, ref: Reference?) {
        // A check costs a signature verification, and Redis is asked for each membership that the token does not grant.
        guard authentications.take(of: rules.authenticationRate, nowMs: nowMs) else {
            let waitMs = max(authentications.waitMs(of: rules.authenticationRate, nowMs: nowMs) ?? 1, 1)
            return rateLimited(
                "more than \(limits.authenticationsPerSecond) authentications a second", waitMs, ref: ref)
        }
        actions.append(.verify(token: token, isRefresh: isRefresh, ref))
    }

    private mutating func verified(
        _ result: Result<Identity, TokenFailure>, isRefresh: Bool, wallMs: Int, ref: Reference?
    ) {
        switch result {
        case .failure(.anonymous) where isRefresh && caller.isAnonymous:
            // A client shows this token without a user; it stays anonymous.
            send(.authenticated(userID: [], expiresAt: 0), ref: ref)
        case .failure(let failure):
            actions.append(.log("authentication refused", failure))
            actions.append(.count(.authenticationFailed))
            if isRefresh { return refuse(failure.refusal, ref: ref) }
            send(.error(failure.refusal, topic: nil), ref: ref)
            close(.unauthorized)
        case .success(let identity):
            guard caller.mayBecome(identity) else {
                return refuse(Refusal(.forbidden, "a connection cannot change its user; open another"), ref: ref)
            }
            adopt(identity, wallMs: wallMs)
            send(.authenticated(userID: identity.user, expiresAt: identity.expiresAt), ref: ref)
            removeForbiddenTopics()
        }
    }

    /// Starts a session opened with these credentials; `wallMs` is milliseconds since 1970, for the token's expiry.
    mutating func begin(wallMs: Int) -> [SessionAction] {
        if case .user(let identity) = caller {
            caller = .anonymous
            adopt(identity, wallMs: wallMs)
        } else if caller.isService {
            establish()
        }
        defer { actions = [] }
        return actions
    }

    private mutating func adopt(_ identity: Identity, wallMs: Int) {
        // A refreshed token is the same user's.
        if caller.isAnonymous, identity.hasHeartbeat { actions.append(.came(user: identity.user)) }
        caller = .user(identity)
        establish()
        // A token taken within the leeway after its end still has the rest of the leeway.
        var leftMs = identity.expiresAt * 1_000 - wallMs
        if leftMs <= 0 { leftMs += limits.tokenLeewaySeconds * 1_000 }
        expiryMs = nowMs + leftMs
        warningMs = leftMs > limits.tokenWarningMs ? expiryMs - limits.tokenWarningMs : nowMs
    }

    /// Ends the session, since the credentials of its caller are refused from now on.
    private mutating func revoked(_ failure: TokenFailure) {
        actions.append(.log("session ended", failure))
        send(.error(failure.refusal, topic: nil), ref: nil)
        close(.unauthorized)
    }

    mutating func establish() {
        guard !isEstablished else { return }
        isEstablished = true
        idleMs = Int.max
        actions.append(.establish)
    }

    // MARK: Answers

    private mutating func published(_ topic: Topic, _ result: Result<Position, Refusal>, ref: Reference?) {
        switch result {
        case .success(let position): send(.published(position: position), ref: ref)
        case .failure(let refusal): refuse(refusal, topic: topic, ref: ref)
        }
    }

    private mutating func answered(_ result: Result<[UInt8], Refusal>, ref: Reference?) {
        switch result {
        case .success(let answer): send(.ack(data: answer), ref: ref)
        case .failure(let refusal): refuse(refusal, ref: ref)
        }
    }

    mutating func send(_ message: ServerMessage, ref: Reference?) {
        if message.isGrant { messages.granted() }
        actions.append(.send(message, ref))
    }

    /// A topic has reported to the client that it is live: the count of consecutive refusals restarts.
    mutating func granted() {
        messages.granted()
    }

    /// Answers with an error; too many of them in a row end the session.
    ///
    /// An error of the gateway or of Redis does not count: a client that repeats its request meanwhile is not at fault.
    mutating func refuse(_ refusal: Refusal, topic: Topic? = nil, ref: Reference?) {
        send(.error(refusal, topic: topic), ref: ref)
        guard refusal.code != .unavailable, refusal.code != .internalError else { return }
        countRefusal()
    }

    /// Counts a refusal; too many in a row end the session.
    mutating func countRefusal() {
        if messages.refused(max: limits.refusalsMax) { close(.rateLimited) }
    }

    mutating func rateLimited(_ text: String, _ retryAfterMs: Int, topic: Topic? = nil, ref: Reference?) {
        actions.append(.count(.rateLimited))
        refuse(Refusal(.rateLimited, text, retryAfterMs: max(retryAfterMs, 1)), topic: topic, ref: ref)
    }

    private mutating func close(_ reason: CloseReason) {
        guard !isClosed else { return }
        isClosed = true
        actions.append(.close(reason))
    }

    // MARK: Time and end

    /// The time at which ``SessionInput/deadline`` is wanted, monotonic milliseconds; `Int.max` for never.
    var deadlineMs: Int { isClosed ? Int.max : min(idleMs, warningMs, expiryMs, followings?.dueMs ?? Int.max) }

    /// Warns of the token's expiry, closes an idle or expired session, and runs due work on followings.
    private mutating func deadlineReached() {
        if nowMs >= idleMs { return close(.timeout) }
        if nowMs >= expiryMs {
            expiryMs = Int.max
            actions.append(.note(.token(Array(TokenFailure.expired.rawValue.utf8))))
            send(.error(Refusal(.unauthorized, "the token has expired"), topic: nil), ref: nil)
            return close(.unauthorized)
        }
        if nowMs >= warningMs {
            warningMs = Int.max
            if case .user(let identity) = caller { send(.tokenExpiring(expiresAt: identity.expiresAt), ref: nil) }
        }
        followDue()
    }

    /// The connection has ended: the session leaves every topic.
    private mutating func end() {
        isClosed = true
        if case .user(let identity) = caller, identity.hasHeartbeat { actions.append(.left(user: identity.user)) }
        endFollowings()
        for holding in holdings where holding.isLive || holding.waits(.topic) { actions.append(.leave(holding.topic)) }
        holdings = Few()
        questions = [:]
    }
}
