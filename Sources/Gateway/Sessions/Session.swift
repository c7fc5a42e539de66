import Commands
import Core
import Dialects
import Rights
import Transport

/// One door of a connection: does what its ``SessionState`` decides, and passes events on.
///
/// How words look on the wire, and how they travel, is its outlet's affair. Thread: the shard's.
final class Session: TopicClient {
    /// A topic of this session: joining while `place` is nil, live otherwise.
    private struct Membership {
        let feed: TopicFeed<Session>
        var place: Int?
    }

    private unowned let host: any SessionHost
    /// `nil` once the connection is over; answers that come later concern nobody.
    private var outlet: (any Outlet)?
    private let door: Door
    /// How events are written for the client; another when it moves to another line.
    var encoding: Encoding
    private var state: SessionState
    private var memberships: [Membership] = []
    /// Topics that the own topic follows; there may be many, so they are found by name.
    private var followed: [Topic: Membership] = [:]
    /// Topics of whose presence it is told, or on which it is listed.
    private var present: Set<Topic> = []
    /// Whether the topic being joined is only followed.
    private var isFollowing = false
    private var operations = OperationScope()
    /// What its events bear that it does not want back; drawn with the first of them.
    private var origin: SessionOrigin?
    /// What is to be done; more may be added meanwhile.
    private var actions: [SessionAction] = []
    private var isActing = false
    /// Topics that count as held from the client's address.
    private var heldNoted = 0
    /// When ``deadlineReached()`` is wanted, monotonic milliseconds.
    private(set) var deadlineMs: Int

    /// The event by which the scripts tell that what a topic follows has changed.
    private static let followsChanged = Array("follows:changed".utf8)

    /// The outlet is told of the end of the session by nobody: it ends it with ``ended()``.
    init(host: any SessionHost, outlet: any Outlet, door: Door, encoding: Encoding, caller: Caller) {
        self.host = host
        self.outlet = outlet
        self.door = door
        self.encoding = encoding
        state = SessionState(host.sessionRules, caller: caller, address: outlet.address, nowMs: host.nowMs)
        if !caller.isAnonymous { actions = state.begin(wallMs: host.wallMs) }
        deadlineMs = state.deadlineMs
        if !actions.isEmpty { act() }
    }

    // MARK: From the client

    /// A message of the client came.
    func received(_ message: Result<ClientRequest, DialectRefusal>) {
        state.heldBesides = outlet?.topicsHeld(besides: door) ?? 0
        take(.message(message))
    }

    /// Milliseconds for which the client is not to be read, since it sends too fast; 0 when it may be.
    var readDelayMs: Int { state.readDelayMs(nowMs: host.nowMs) }

    /// Does what waited for its time.
    func deadlineReached() {
        if host.nowMs >= deadlineMs { take(.deadline) }
    }

    /// The client has proven at another door to be more than an open socket.
    func proven() {
        take(.proven)
    }

    /// The connection is over: every topic is left.
    func ended() {
        take(.ended)
        outlet = nil
    }

    /// The right to a topic was taken away: the client is told, and hears no more of it.
    func withdraw(_ topic: Topic, _ refusal: Refusal) {
        take(.withdrawn(topic, refusal))
    }

    /// Ends the session: what its caller showed is refused from now on.
    func end(_ failure: TokenFailure) {
        take(.revoked(failure))
    }

    /// On whose behalf the client speaks.
    var caller: Caller { state.caller }

    /// Whose budget pays for what the client asks of Redis.
    var payer: Payer { host.payer(state.caller, at: state.address) }

    /// The client's address; `nil` where it is not known.
    var address: IPAddress? { state.address }

    /// On whose behalf topics are read.
    var asker: TopicAsker? { TopicAsker(caller: CommandCaller(caller), payer: payer) }

    /// How many topics the client has asked for and has not given up.
    var heldCount: Int { state.holdings.count }

    /// The topics that the client has asked for and has not given up.
    var topicsHeld: [Topic] { state.holdings.map(\.topic) }

    // MARK: Doing

    private func take(_ input: SessionInput) {
        guard outlet != nil else { return }
        actions += state.take(input, nowMs: host.nowMs)
        // What an action brings about at once is done after those that are decided.
        if !isActing { act() }
    }

    private func act() {
        isActing = true
        var index = 0
        while index < actions.count {
            let action = actions[index]
            index += 1
            perform(action)
        }
        actions.removeAll(keepingCapacity: false)
        isActing = false
        noteHeld()
        guard deadlineMs != state.deadlineMs else { return }
        deadlineMs = state.deadlineMs
        outlet?.deadlineChanged()
    }

    /// Tells how many topics are held without a token, when the number has changed.
    private func noteHeld() {
        let held = state.caller.isAnonymous ? state.holdings.count : 0
        if held != heldNoted { host.sessionRules.noteHeld(held - heldNoted, state.address) }
        heldNoted = held
    }

    private func perform(_ action: SessionAction) {
        switch action {
        case .send(let message, let ref):
            log(message)
            outlet?.tell(message, at: door, ref: ref)
        case .verify(let token, let isRefresh, let ref):
            take(.verified(host.verify(token), isRefresh: isRefresh, wallMs: host.wallMs, ref: ref))
        case .askMembership(let topic, let user):
            host.isMember(topic, user: user) { [self] in take(.membership(topic, $0)) }
        case .readFollows(let topic, let number):
            host.follows(topic) { [self] in take(.follows(number: number, $0)) }
        case .readReplay(let topic, let wanted, let number):
            host.replay(topic, wanted, asker: TopicAsker(caller: CommandCaller(caller), payer: payer)) { [self] in
                take(.replayed(topic, number: number, $0))
            }
        case .tellReplay(let topic, let events, let position, let ref):
            outlet?.replayed(events, of: topic, upTo: position, at: door, ref: ref)
        case .join(let request, let ref):
            host.join(self, request, ref: ref)
        case .follow(let topic): follow(topic)
        case .leave(let topic): leave(topic)
        case .publish(let request, let ref):
            let id = request.id.map { PublishID($0, of: state.caller, connection: operations.scope) }
            let origin = request.isForOthers ? drawnOrigin() : nil
            host.publish(request, id: id, origin: origin, payer: payer) { [self] in
                take(.published(request.topic, $0, ref: ref))
            }
        case .watch(let topic):
            present.insert(topic)
            host.watchPresence(self, topic)
        case .track(let request, let user, let isNew, let ref):
            present.insert(request.topic)
            host.track(self, request, user: user) { [self] in
                take(.tracked(request.topic, $0, isNew: isNew, ref: ref))
            }
        case .untrack(let topic, let ref):
            host.untrack(self, topic) { [self] in take(.tracked(topic, $0, isNew: false, ref: ref)) }
        case .run(let name, let arguments, let ref): run(name, arguments, ref)
        case .came(let user): host.came(user)
        case .left(let user): host.left(user)
        case .establish: outlet?.established()
        case .count(let figure): host.count(figure)
        case .log(let message, let failure): host.log(.refused(message, failure), of: self)
        case .close(let reason): outlet?.close(reason)
        }
    }

    /// Writes an error or a warning to the client into the log, where an operator looks for it.
    private func log(_ message: ServerMessage) {
        switch message {
        case .warning(code: .rateLimited, let text, _): host.log(.limited(message: text, nil), of: self)
        case .error(let code, let text, let topic, _):
            switch ErrorCode(rawValue: code) {
            case .unavailable, .internalError: host.log(.failed(code: code, message: text, topic), of: self)
            case .rateLimited: host.log(.limited(message: text, topic), of: self)
            default: break
            }
        default: break
        }
    }

    private func drawnOrigin() -> SessionOrigin? {
        if origin == nil { origin = SessionOrigin(Base64.encode(SecureRandom.bytes(12), .url)) }
        return origin
    }

    private func follow(_ topic: Topic) {
        if let refusal = host.sessionRules.payJoin(topic, state.caller, state.address) {
            return take(.joinRefused(topic, refusal))
        }
        isFollowing = true
        host.join(self, SubscribeRequest(topic: topic, since: nil), ref: nil)
        isFollowing = false
    }

    private func run(_ name: String, _ arguments: CommandArguments, _ ref: Reference?) {
        let lane = operations.lane ?? host.newLane()
        operations.lane = lane
        let operation = ref.flatMap { outlet?.operation(of: $0) }.map { operations.id($0) }
        host.run(
            name, arguments, operation: operation, scope: operations.scope, lane: lane, caller: state.caller,
            payer: payer
        ) { [self] in take(.answered($0, ref: ref)) }
    }

    private func leave(_ topic: Topic) {
        if present.remove(topic) != nil { host.leftPresence(self, topic) }
        // What the topic still hands over comes as what it was joined for.
        if let membership = followed[topic] {
            host.topics.leave(self, membership.feed, place: membership.place)
            followed[topic] = nil
        } else if let index = memberships.firstIndex(where: { $0.feed.topic == topic }) {
            let membership = memberships.remove(at: index)
            host.topics.leave(self, membership.feed, place: membership.place)
        }
    }

    // MARK: From the topics

    /// The session waits for a topic.
    func joins(_ feed: TopicFeed<Session>) {
        let membership = Membership(feed: feed, place: nil)
        if isFollowing { followed[feed.topic] = membership } else { memberships.append(membership) }
    }

    /// The session is live on a topic, at that place among its members.
    func joined(_ feed: TopicFeed<Session>, place: Int) {
        moved(to: place, in: feed)
        take(.joined(feed.topic))
    }

    /// The session's place among a topic's members changed.
    func moved(to place: Int, in feed: TopicFeed<Session>) {
        if let index = memberships.firstIndex(where: { $0.feed === feed }) {
            memberships[index].place = place
        } else {
            followed[feed.topic]?.place = place
        }
    }

    /// A topic could not be joined.
    func refused(_ refusal: Refusal, topic: Topic, ref: Reference?) {
        if followed.removeValue(forKey: topic) == nil { memberships.removeAll { $0.feed.topic == topic } }
        take(.joinRefused(topic, refusal))
    }

    /// What a topic tells of itself; the client of a followed one is not told that it was joined.
    func send(_ message: ServerMessage, ref: Reference?) {
        switch message {
        case .subscribed(let topic, _, _, _) where followed[topic] != nil: break
        case .gap(let topic, let position, let reason): take(.gap(topic, position, reason))
        default: outlet?.tell(message, at: door, ref: ref)
        }
    }

    /// Tells who is here, in the words of its encoding.
    func tellPresence(_ topic: Topic, _ members: [UInt8]?) {
        guard let members else { return }
        outlet?.tell(.presence(topic: topic, members: members), at: door, ref: nil)
    }

    /// Passes an event on.
    ///
    /// `isOwed`: the client asked for it by its position, so that it does not count as slowness that it waits in the
    /// queue.
    func deliver(_ delivery: Delivery, isOwed: Bool) {
        guard let outlet else { return host.undeliverable(delivery) }
        // Compared first: most sessions have no origin.
        guard origin == nil || delivery.message.origin != origin else { return host.undeliverable(delivery) }
        guard let shown = isTranslating ? shown(delivery) : delivery else { return host.undeliverable(delivery) }
        if !outlet.send(shown, encoding, at: door, isOwed: isOwed) { outlet.close(.slowConsumer) }
    }

    /// Passes events on, together where nobody has to look at each of them.
    func deliver(_ batch: DeliveryBatch) {
        if let outlet, !isTranslating, origin == nil || !batch.hasEvent(of: origin), outlet.send(batch, encoding) {
            return
        }
        for delivery in batch.deliveries { deliver(delivery, isOwed: false) }
    }

    /// Whether the session is a member of the topic, or asks to be.
    func hears(_ topic: Topic) -> Bool {
        memberships.contains { $0.feed.topic == topic } || followed[topic] != nil
    }

    /// Whether each event has to be looked at, since the session follows topics.
    private var isTranslating: Bool { state.followings != nil || !followed.isEmpty }

    /// The event as a client gets it whose own topic follows others; `nil` when it has not been told `subscribed` yet.
    private func shown(_ delivery: Delivery) -> Delivery? {
        let own = state.followings?.topic
        guard followed[delivery.topic] != nil else {
            if delivery.topic == own, delivery.message.event.bytes == Session.followsChanged { take(.followsChanged) }
            return delivery
        }
        guard let own, state.followings?.isHeard == true else { return nil }
        let event = delivery.message
        return Delivery(
            topic: own, message: ChannelMessage(position: nil, event: event.event, id: event.id, data: event.data),
            counts: delivery.counts, isForOne: true)
    }
}
