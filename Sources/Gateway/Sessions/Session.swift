import Commands
import Configuration
import Core
import Dialects
import Reactors
import Rights
import Transport

/// One client connection and what it may do.
///
/// It knows commands and rights; how they look on the wire is its dialect's affair, how bytes travel its outlet's.
/// Thread: the shard's.
final class Session: TopicClient {
    /// A topic of this session: joining while `place` is nil, live otherwise.
    struct Membership {
        let feed: TopicFeed<Session>
        var place: Int?
    }

    unowned let shard: Shard
    unowned let outlet: any Outlet
    let dialect: any Dialect
    /// The dialect's number, by which deliveries keep their encoding.
    let variant: Int
    private(set) var caller: Caller
    private(set) var memberships: [Membership] = []
    /// What the user's own topic follows; `nil` unless the session is on that topic.
    private var followings: Followings?
    private(set) var isOver = false
    /// Whether the client has authenticated or subscribed, and so is more than an open socket.
    private(set) var isEstablished: Bool
    private var messages: RateLadder
    private var joins: TokenBucket
    /// What the commands of this session share.
    var operations = OperationScope()
    /// Membership questions under way; they count towards the topic limit.
    private var asking = 0
    /// When an idle client is closed, when the token's owner is warned, when the token ends; `Int.max` for never.
    private(set) var idleDeadlineMs: Int
    private var warningMs = Int.max
    private var expiryMs = Int.max

    init(shard: Shard, outlet: any Outlet, dialect: any Dialect, variant: Int, caller: Caller) {
        self.shard = shard
        self.outlet = outlet
        self.dialect = dialect
        self.variant = variant
        if case .user = caller { self.caller = .anonymous } else { self.caller = caller }
        let (limits, nowMs) = (shard.limits, shard.nowMs)
        messages = RateLadder(
            RateLimit(perSecond: limits.messagesPerSecond, burst: limits.messagesPerSecond * 2),
            refusalsMax: limits.refusalsMax, nowMs: nowMs)
        joins = TokenBucket(
            RateLimit(
                perSecond: limits.joinsPerSecond, burst: max(limits.joinsPerSecond * 2, limits.subscribeBatchMax)),
            nowMs: nowMs)
        isEstablished = false
        idleDeadlineMs = nowMs + limits.authenticateMs
        if case .user(let identity) = caller { adopt(identity) } else if caller.isService { establish() }
    }

    // MARK: From the client

    /// A message of the client came.
    func received(_ payload: [UInt8], as kind: MessageKind) {
        let step = messages.take(nowMs: shard.nowMs)
        switch (dialect.decode(payload, as: kind), step) {
        case (.success(let request), .refuse(let retryAfterMs)):
            shard.statistics.rateLimited.add(1)
            let text = "more than \(shard.limits.messagesPerSecond) messages a second"
            refuse(Refusal(.rateLimited, text, retryAfterMs: retryAfterMs), ref: request.ref)
        case (.success(let request), _):
            perform(request.command, ref: request.ref)
        case (.failure(let failure), _):
            refuse(failure.refusal, ref: failure.ref)
            if let reason = failure.close { close(reason) }
        }
        if step == .serveAndWarn { warn() }
    }

    private func warn() {
        shard.statistics.rateWarnings.add(1)
        let perSecond = shard.limits.messagesPerSecond
        let text = "close to \(perSecond) messages a second; beyond, they are served later or refused"
        send(.warning(code: .rateLimited, message: text, perSecond: perSecond), ref: nil)
    }

    /// Milliseconds for which the client is not to be read, since it sends too fast; 0 when it may be.
    var readDelayMs: Int { isOver ? 0 : messages.delayMs(nowMs: shard.nowMs) }

    private func perform(_ command: ClientCommand, ref: Reference?) {
        switch command {
        case .ping:
            send(.pong, ref: ref)
        case .authenticate(let token):
            authenticate(token, ref: ref)
        case .subscribe(let requests):
            for request in requests { subscribe(request, ref: ref) }
        case .unsubscribe(let topics):
            for topic in topics { unsubscribe(topic, ref: ref) }
        case .publish(let topic, let event, let data, let id):
            publish(topic, event, data, id, ref: ref)
        case .command(let name, let arguments):
            run(name, arguments, ref: ref)
        }
    }

    private func authenticate(_ token: [UInt8], ref: Reference?) {
        switch shard.node.verify(token, now: shard.wallSeconds) {
        case .failure(let failure):
            shard.log(.info, "authentication refused", [("reason", failure.rawValue)])
            shard.statistics.authenticationFailures.add(1)
            send(.error(failure.refusal, topic: nil), ref: ref)
            close(.unauthorized)
        case .success(let identity):
            guard caller.mayBecome(identity) else {
                return refuse(Refusal(.forbidden, "a connection cannot change its user; open another"), ref: ref)
            }
            adopt(identity)
            send(.authenticated(userID: identity.user, expiresAt: identity.expiresAt), ref: ref)
            removeForbiddenTopics()
        }
    }

    private func adopt(_ identity: Identity) {
        // A refreshed token is the same user's.
        if caller.isAnonymous, identity.role == .user { shard.commands.came(identity.user) }
        caller = .user(identity)
        establish()
        // A token taken within the leeway after its end still has the rest of the leeway.
        let wallMs = shard.wallMs
        var leftMs = identity.expiresAt * 1_000 - wallMs
        if leftMs <= 0 { leftMs += shard.limits.tokenLeewaySeconds * 1_000 }
        expiryMs = shard.nowMs + leftMs
        warningMs = leftMs > shard.limits.tokenWarningMs ? expiryMs - shard.limits.tokenWarningMs : shard.nowMs
        outlet.deadlineChanged()
    }

    private func establish() {
        guard !isEstablished else { return }
        isEstablished = true
        idleDeadlineMs = Int.max
        outlet.established()
        outlet.deadlineChanged()
    }

    /// A refreshed token may allow less than the one before.
    private func removeForbiddenTopics() {
        for topic in memberships.map(\.feed.topic) {
            switch shard.node.access.subscribe(topic, caller) {
            case .allow: break
            case .refuse(let refusal): withdraw(topic, refusal)
            case .askMembership: askAgain(topic)
            }
        }
    }

    /// The token does not grant the topic any more; the user may still be a member.
    ///
    /// Without an answer it is left.
    private func askAgain(_ topic: Topic) {
        guard case .user(let identity) = caller else { return }
        shard.store.isMember(topic, user: identity.user) { [self] result in
            let decision = result.map { AccessPolicy.Decision.membership($0) }
            if case .success(.refuse(let refusal)) = decision { withdraw(topic, refusal) }
            if case .failure(let refusal) = decision { withdraw(topic, refusal) }
        }
    }

    /// The right to a topic was taken away: the client is told, and hears no more of it.
    func withdraw(_ topic: Topic, _ refusal: Refusal) {
        guard !isOver, memberships.contains(where: { $0.feed.topic == topic }) else { return }
        leave(topic)
        send(.unsubscribed(topic: topic), ref: nil)
        send(.error(refusal, topic: topic), ref: nil)
    }

    /// Whether the client itself has joined, or is joining, the topic.
    func holds(_ topic: Topic) -> Bool {
        memberships.contains { $0.feed.topic == topic }
    }

    private func subscribe(_ request: SubscribeRequest, ref: Reference?) {
        leave(request.topic)
        let max = shard.limits.topicsPerConnectionMax
        guard memberships.count + asking < max else {
            return refused(Refusal(.tooLarge, "a connection may hold \(max) topics"), topic: request.topic, ref: ref)
        }
        guard joins.take(nowMs: shard.nowMs) else {
            shard.statistics.rateLimited.add(1)
            let text = "more than \(shard.limits.joinsPerSecond) joins a second"
            let waitMs = Swift.max(joins.waitMs(nowMs: shard.nowMs) ?? 1, 1)
            return refused(
                Refusal(.rateLimited, text, retryAfterMs: waitMs), topic: request.topic, ref: ref)
        }
        authorize(shard.node.access.subscribe(request.topic, caller), topic: request.topic, ref: ref) { [self] in
            establish()
            // Asked for again while the question of membership was under way: it has been joined meanwhile.
            if holds(request.topic) { leave(request.topic) }
            if followsFrom(request.topic) { follow(request, ref: ref) } else { join(request, ref: ref) }
        }
    }

    private func join(_ request: SubscribeRequest, ref: Reference?) {
        followings?.yield(request.topic)
        shard.topics.join(self, request, ref: ref)
    }

    /// Whether the topic is the user's own and its namespace follows others.
    private func followsFrom(_ topic: Topic) -> Bool {
        guard case .user(let identity) = caller, !caller.isService else { return false }
        return shard.node.access.policy(of: topic)?.follows == true && topic.id.elementsEqual(identity.user)
    }

    /// Joins what the topic follows, then the topic, so that nothing is missed after `subscribed`.
    private func follow(_ request: SubscribeRequest, ref: Reference?) {
        endFollowing()
        asking += 1
        let followings = Followings(request.topic, session: self) { [unowned self] refusal in
            asking -= 1
            guard let refusal else { return join(request, ref: ref) }
            endFollowing()
            refuse(refusal, topic: request.topic, ref: ref)
        }
        self.followings = followings
        // It may fail at once, and then must be known so that it ends.
        followings.read()
    }

    private func endFollowing() {
        if followings?.isStarting == true { asking -= 1 }
        followings?.end()
        followings = nil
    }

    private func publish(
        _ topic: Topic, _ event: EventName, _ data: [UInt8], _ id: MessageID?, ref: Reference?
    ) {
        authorize(shard.node.access.publish(topic, caller), topic: topic, ref: ref) { [self] in
            // Nobody known has no allowance; what one connection may say bounds it.
            if case .user(let identity) = caller,
                let waitMs = shard.node.waitForUserAction(identity.user, nowMs: shard.nowMs)
            {
                shard.statistics.rateLimited.add(1)
                let text = "more than \(shard.limits.userActionsPerSecond) publishes a second"
                return refuse(Refusal(.rateLimited, text, retryAfterMs: waitMs), topic: topic, ref: ref)
            }
            let id = id.map { PublishID($0, of: caller, connection: operations.scope) }
            shard.store.publish(topic, event, data, id) { [self] result in
                switch result {
                case .success(let receipt): published(receipt, ref)
                case .failure(let refusal): refuse(refusal, topic: topic, ref: ref)
                }
            }
        }
    }

    /// Goes on when the decision allows it, after asking Redis for membership where the decision says so.
    private func authorize(
        _ decision: AccessPolicy.Decision, topic: Topic, ref: Reference?, then proceed: @escaping () -> Void
    ) {
        switch decision {
        case .allow:
            proceed()
        case .refuse(let refusal):
            refuse(refusal, topic: topic, ref: ref)
        case .askMembership:
            guard case .user(let identity) = caller else { return }
            asking += 1
            shard.store.isMember(topic, user: identity.user) { [self] result in
                asking -= 1
                guard !isOver else { return }
                switch result.map({ AccessPolicy.Decision.membership($0) }) {
                case .success(let decision): authorize(decision, topic: topic, ref: ref, then: proceed)
                case .failure(let refusal): refuse(refusal, topic: topic, ref: ref)
                }
            }
        }
    }

    private func unsubscribe(_ topic: Topic, ref: Reference?) {
        leave(topic)
        send(.unsubscribed(topic: topic), ref: ref)
    }

    private func leave(_ topic: Topic) {
        if followings?.topic == topic { endFollowing() }
        guard let index = memberships.firstIndex(where: { $0.feed.topic == topic }) else { return }
        let membership = memberships.remove(at: index)
        shard.topics.leave(self, membership.feed, place: membership.place)
        // The topic may be followed as well.
        followings?.read()
    }

    // MARK: From the topics

    /// The session waits for a topic.
    func joins(_ feed: TopicFeed<Session>) {
        if let followings, followings.owns(feed.topic) { return followings.joins(feed) }
        memberships.append(Membership(feed: feed, place: nil))
    }

    /// The session is live on a topic, at that place among its members.
    func joined(_ feed: TopicFeed<Session>, place: Int) {
        moved(to: place, in: feed)
    }

    /// The session's place among a topic's members changed.
    func moved(to place: Int, in feed: TopicFeed<Session>) {
        if let followings, followings.owns(feed.topic) { return followings.moved(to: place, in: feed) }
        guard let index = memberships.firstIndex(where: { $0.feed === feed }) else { return }
        memberships[index].place = place
    }

    /// A topic could not be joined.
    func refused(_ refusal: Refusal, topic: Topic, ref: Reference?) {
        if let followings, followings.owns(topic) { return followings.refused(refusal, topic: topic) }
        memberships.removeAll { $0.feed.topic == topic }
        refuse(refusal, topic: topic, ref: ref)
    }

    /// Passes an event on.
    ///
    /// `isOwed`: the client asked for it by its position, so that it does not count as slowness that it waits in the
    /// queue.
    func deliver(_ delivery: Delivery, isOwed: Bool) {
        guard !isOver else { return shard.undeliverable(delivery) }
        let shown = followings?.shown(delivery) ?? delivery
        if !outlet.send(shown, variant: variant, dialect: dialect, isOwed: isOwed) { close(.slowConsumer) }
    }

    /// Passes events on, together where nobody has to look at each of them.
    func deliver(_ batch: DeliveryBatch) {
        if !isOver, followings == nil, outlet.send(batch, variant: variant, dialect: dialect) { return }
        for delivery in batch.deliveries { deliver(delivery, isOwed: false) }
    }

    // MARK: To the client

    /// Sends a message in the session's dialect.
    func send(_ message: ServerMessage, ref: Reference?) {
        guard !isOver else { return }
        var message = message
        if let followings {
            guard let translated = followings.translated(message) else { return }
            message = translated
        }
        if message.isGrant { messages.granted() }
        outlet.send(dialect.encode(message, ref: ref))
    }

    private func refuse(_ refusal: Refusal, topic: Topic? = nil, ref: Reference?) {
        refuse(.error(refusal, topic: topic), ref: ref)
    }

    /// Answers with an error; too many of them in a row end the session.
    func refuse(_ error: ServerMessage, ref: Reference?) {
        guard !isOver else { return }
        send(error, ref: ref)
        if messages.refused() { close(.rateLimited) }
    }

    /// Ends the session and its connection.
    func close(_ reason: CloseReason) {
        guard !isOver else { return }
        outlet.close(reason)
    }

    // MARK: Time and end

    /// When ``deadlineReached()`` is wanted, monotonic milliseconds.
    var deadlineMs: Int { min(idleDeadlineMs, warningMs, expiryMs) }

    /// Warns of the token's end, or ends what is over.
    func deadlineReached() {
        let nowMs = shard.nowMs
        if nowMs >= idleDeadlineMs { return close(.timeout) }
        if nowMs >= expiryMs {
            expiryMs = Int.max
            send(.error(Refusal(.unauthorized, "the token has expired"), topic: nil), ref: nil)
            return close(.unauthorized)
        }
        if nowMs >= warningMs {
            warningMs = Int.max
            if case .user(let identity) = caller { send(.tokenExpiring(expiresAt: identity.expiresAt), ref: nil) }
        }
    }

    /// The connection is over: every topic is left.
    func ended() {
        guard !isOver else { return }
        isOver = true
        if case .user(let identity) = caller, identity.role == .user { shard.commands.left(identity.user) }
        endFollowing()
        let left = memberships
        memberships = []
        for membership in left { shard.topics.leave(self, membership.feed, place: membership.place) }
    }
}
