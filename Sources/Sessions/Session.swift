import Commands
import Connections
public import Core
public import Dialects
public import Rights
import Service
public import Topics
import Traces

/// One client session of a connection: performs the actions of its ``SessionState``, and forwards events.
///
/// Its ``SessionOutput`` encodes messages and transports them. Thread: the shard's.
public final class Session: TopicClient, PresenceListener {
    /// A topic of this session: joining while `place` is nil, live otherwise.
    struct Membership {
        let feed: LocalTopic<Session>
        var place: Int?
    }

    // A delivery to a client that has been silent finds nothing of the session in the processor's caches, so the fields
    // that it uses stand first and together.
    /// The connection that takes events as they are encoded; `nil` where the output does more with them.
    private var eventConnection: Connection?
    /// The encoding of events for the client; it changes when the client moves to another transport.
    public var encoding: Encoding
    /// The publisher id that excludes this session from its own events; drawn with the first publish that does so.
    private(set) var origin: EchoExclusion?
    /// Whether each event needs a look of its own, since the session follows topics.
    private var isTranslating = false
    /// Whether the topic being joined is only followed.
    private var isFollowing = false
    private var isActing = false
    /// The changes that it may still write into the record.
    var allowance = TraceAllowance()
    /// Its number on the shard, 1 or more.
    public let number: UInt32
    let sessionID: SessionID
    /// Its place in the ``UserSessions``; `nil` without a user, and after the end.
    var userPlace: Int?
    /// `nil` once the connection has ended; later answers are ignored.
    private(set) var output: (any SessionOutput)?
    unowned let services: SessionServices
    /// The time at which ``deadlineReached()`` must be called, monotonic milliseconds.
    private(set) var deadlineMs: Int
    private(set) var memberships = Few<Membership>()
    /// Topics that the user's own topic follows, by name, since there may be many.
    private(set) var followed: [Topic: Membership] = [:]
    /// Topics whose presence the session watches, or on which it is listed.
    private var present: Set<Topic> = []
    private var operations = OperationScope()
    /// Actions to perform; an action may append more.
    private var actions: [SessionAction] = []
    /// Topics that count as held from the client's address.
    private var heldNoted = 0
    private var state: SessionState
    /// When it began, monotonic milliseconds.
    public let openedMs: Int

    /// The event by which the scripts report that the set of followed topics has changed.
    private static let followsChanged = Array("follows:changed".utf8)

    /// A session that sends through an output.
    ///
    /// The output calls ``ended()``; the session never notifies it of its own end.
    init(
        _ services: SessionServices, output: any SessionOutput, sessionID: SessionID, encoding: Encoding, caller: Caller
    ) {
        self.services = services
        self.output = output
        self.sessionID = sessionID
        self.encoding = encoding
        openedMs = services.clock.nowMs
        state = SessionState(services.rules, caller: caller, address: output.address, nowMs: services.clock.nowMs)
        let (kind, name) = Session.traced(caller)
        number = services.trace.opened(kind, name: name, address: output.address, dialect: encoding.name)
        if !caller.isAnonymous { actions = state.begin(wallMs: services.clock.wallMs) }
        deadlineMs = state.deadlineMs
        if case .user(let identity) = caller { services.users.began(self, of: identity.user) }
        if !actions.isEmpty { act() }
    }

    // MARK: From the client

    /// Processes a message of the client.
    func received(_ message: Result<ClientRequest, DialectRefusal>) {
        state.heldBesides = output?.topicsHeld(besides: sessionID) ?? 0
        take(.message(message))
    }

    /// Sends events to the connection itself from now on; `nil`: through the output.
    func sendEvents(to connection: Connection?) {
        eventConnection = output == nil ? nil : connection
    }

    /// Milliseconds for which the transport must not read from the client, since it sends too fast; 0 when it may read.
    var readDelayMs: Int { state.readDelayMs(nowMs: services.clock.nowMs) }

    /// Processes everything whose deadline has passed.
    func deadlineReached() {
        if services.clock.nowMs >= deadlineMs { take(.deadline) }
    }

    /// The client has proven in another session to be more than an open socket.
    func proven() { take(.proven) }

    /// The connection has ended, or the client has ended the session: it leaves every topic.
    ///
    /// `unsent` are the first events by topic that were not written.
    func ended(_ reason: CloseReason, unsent: [Topic: Position]) {
        noteEnd(reason, unsent)
        take(.ended)
        output = nil
        eventConnection = nil
    }

    /// The client lost the right to a topic: it is notified, and receives no more events of it.
    public func withdraw(_ topic: Topic, _ refusal: Refusal) {
        take(.withdrawn(topic, refusal))
    }

    /// Ends the session, since the credentials of its caller are refused from now on.
    public func end(_ failure: TokenFailure) {
        take(.revoked(failure))
    }

    /// The identity on whose behalf the client acts.
    public var caller: Caller { state.caller }

    /// The payer whose budget is charged for the client's Redis operations.
    var payer: Payer { services.callers.payer(state.caller, at: state.address) }

    /// The client's address; `nil` where it is not known.
    public var address: IPAddress? { state.address }

    /// The caller and payer of reads of topics.
    public var asker: ReadCaller? { ReadCaller(caller: CommandCaller(caller), payer: payer) }

    /// Number of topics that the client has asked for and has not given up.
    var heldCount: Int { state.holdings.count }

    /// The topics that the client has asked for and has not given up.
    public var topicsHeld: [Topic] { state.holdings.map(\.topic) }

    // MARK: Actions

    private func take(_ input: SessionInput) {
        guard output != nil else { return }
        actions += state.take(input, nowMs: services.clock.nowMs)
        noteFollowing()
        // Inputs that an action causes at once are processed after the actions already decided.
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
        output?.deadlineChanged()
    }

    /// Reports the number of topics held without a token when it has changed.
    private func noteHeld() {
        let held = state.caller.isAnonymous ? state.holdings.count : 0
        if held != heldNoted { services.rules.budget.hold(held - heldNoted, at: state.address) }
        heldNoted = held
    }

    private func perform(_ action: SessionAction) {
        switch action {
        case .send(let message, let ref):
            log(message)
            output?.send(message, at: sessionID, ref: ref)
        case .verify(let token, let isRefresh, let ref):
            let verdict = services.callers.verify(token)
            let wasAnonymous = state.caller.isAnonymous
            take(.verified(verdict, isRefresh: isRefresh, wallMs: services.clock.wallMs, ref: ref))
            if wasAnonymous, case .user(let identity) = state.caller { named(identity.user) }
        case .askMembership(let topic, let user):
            services.log.isMember(topic, user: user) { [self] in take(.membership(topic, $0)) }
        case .readFollows(let topic, let number):
            services.log.follows(topic) { [self] in take(.follows(number: number, $0)) }
        case .readReplay(let topic, let wanted, let number):
            services.log.replay(topic, wanted, asker: ReadCaller(caller: CommandCaller(caller), payer: payer)) {
                [self] in
                take(.replayed(topic, number: number, $0))
            }
        case .join(let request, let ref):
            services.topics.join(self, request, ref: ref)
        case .follow(let topic): follow(topic)
        case .leave(let topic): leave(topic)
        case .publish(let request, let ref):
            let id = request.id.map { PublishID($0, of: state.caller, connection: operations.scope) }
            let origin = request.isForOthers ? drawnOrigin() : nil
            services.log.publish(request, id: id, excluding: origin, payer: payer) { [self] in
                if case .success = $0 { services.reports.count(.published) }
                take(.published(request.topic, $0, ref: ref))
            }
        case .watch(let topic):
            present.insert(topic)
            services.presence.watch(self, topic, payer: payer)
        case .track(let request, let user, let isNew, let ref):
            present.insert(request.topic)
            services.presence.track(self, request, user: user, payer: payer) { [self] in
                take(.tracked(request.topic, $0, isNew: isNew, ref: ref))
            }
        case .untrack(let topic, let ref):
            services.presence.untrack(self, topic) { [self] in take(.tracked(topic, $0, isNew: false, ref: ref)) }
        case .run(let name, let arguments, let operation, let ref): run(name, arguments, operation, ref)
        case .came(let user): services.commands.came(user)
        case .left(let user): services.commands.left(user)
        case .establish: output?.established()
        case .count(let figure): services.reports.count(figure)
        case .log(let message, let failure):
            note(.token(Array(failure.rawValue.utf8)))
            services.reports.log(.refused(message, failure), of: self)
        case .note(let change): note(change)
        case .close(let reason): output?.close(reason)
        }
    }

    private func drawnOrigin() -> EchoExclusion? {
        if origin == nil {
            origin = EchoExclusion(Base64.encode(SecureRandom.bytes(12), .url))
            note(.excludes)
        }
        return origin
    }

    private func follow(_ topic: Topic) {
        if let refusal = services.rules.budget.payJoin(topic, state.caller, at: state.address) {
            return take(.joinRefused(topic, refusal))
        }
        isFollowing = true
        services.topics.join(self, SubscribeRequest(topic: topic, since: nil), ref: nil)
        isFollowing = false
    }

    private func run(
        _ name: String, _ arguments: CommandArguments, _ operation: OperationName?, _ ref: Reference?
    ) {
        let lane = operations.lane ?? services.commands.newLane()
        operations.lane = lane
        let operation = operation.map { operations.id($0) }
        services.commands.run(
            name, arguments, operation: operation, scope: operations.scope, lane: lane, caller: state.caller,
            payer: payer
        ) { [self] in take(.answered($0, ref: ref)) }
    }

    private func leave(_ topic: Topic) {
        if present.remove(topic) != nil { services.presence.left(self, topic) }
        // The topic may still hand over events, which are treated by the membership: a followed one is removed after
        // that.
        if let membership = followed[topic] {
            leave(membership)
            followed[topic] = nil
            noteFollowing()
        } else if let index = memberships.firstIndex(where: { $0.feed.topic == topic }) {
            leave(memberships.remove(at: index))
        }
    }

    private func leave(_ membership: Membership) {
        if let place = membership.place {
            note(.left(membership.feed.topic, handed: membership.feed.reached(at: place)))
        }
        services.topics.leave(self, membership.feed, place: membership.place)
    }

    // MARK: From the topics

    /// The session waits for a topic.
    public func joins(_ feed: LocalTopic<Session>) {
        let membership = Membership(feed: feed, place: nil)
        if isFollowing { followed[feed.topic] = membership } else { memberships.append(membership) }
        noteFollowing()
    }

    /// The session is live on a topic, at that place among its members.
    public func joined(_ feed: LocalTopic<Session>, place: Int, _ answer: JoinAnswer) {
        moved(to: place, in: feed)
        note(
            .subscribed(
                feed.topic, at: answer.position, since: answer.since, isRecovered: answer.isRecovered,
                isFollowed: followed[feed.topic] != nil))
        take(.joined(feed.topic))
    }

    /// The session's place among a topic's members changed.
    public func moved(to place: Int, in feed: LocalTopic<Session>) {
        if let index = memberships.firstIndex(where: { $0.feed === feed }) {
            memberships[index].place = place
        } else {
            followed[feed.topic]?.place = place
        }
    }

    /// A topic could not be joined.
    public func refused(_ refusal: Refusal, topic: Topic, ref: Reference?) {
        if followed.removeValue(forKey: topic) == nil,
            let index = memberships.firstIndex(where: { $0.feed.topic == topic })
        {
            _ = memberships.remove(at: index)
        }
        take(.joinRefused(topic, refusal))
    }

    /// Forwards a message about a topic; the client gets no `subscribed` for a followed topic.
    public func send(_ message: ServerMessage, ref: Reference?) {
        switch message {
        case .subscribed(let topic, _, _, _) where followed[topic] != nil: break
        case .gap(let topic, let position, let reason): take(.gap(topic, position, reason))
        default: output?.send(message, at: sessionID, ref: ref)
        }
    }

    /// Sends the list of members present, as its encoding wrote it.
    public func sendPresenceState(_ topic: Topic, _ members: [UInt8]?) {
        guard let members else { return }
        output?.send(.presence(topic: topic, members: members), at: sessionID, ref: nil)
    }

    /// Forwards an event.
    ///
    /// `isBacklog`: the client asked for it by position. Waiting in the queue then does not count as slowness.
    public func deliver(_ delivery: Delivery, isBacklog: Bool) {
        // Its own publisher id is looked at first: most sessions have none.
        guard origin == nil || delivery.message.origin != origin,
            let shown = isTranslating ? shown(delivery) : delivery
        else { return services.reports.undeliverable(delivery) }
        if !send(shown, isBacklog: isBacklog) { output?.close(.slowConsumer) }
    }

    /// Sends an event; false when the client reads too slowly to take it.
    private func send(_ delivery: Delivery, isBacklog: Bool) -> Bool {
        if let eventConnection {
            let frame = delivery.frame(encoding, isBacklog: isBacklog)
            if !frame.isEmpty {
                if eventConnection.send(frame, item: delivery, isBacklog: isBacklog) { return true }
                let isOpen = eventConnection.isOpen
                if !isOpen { sendEvents(to: nil) }
                notWritten(delivery)
                return !isOpen
            }
        } else if let output {
            return output.send(delivery, encoding, at: sessionID, isBacklog: isBacklog)
        }
        // The connection has ended, or the dialect cannot express the event.
        services.reports.undeliverable(delivery)
        return true
    }

    /// Sends the events of a batch as one unit; false, and nothing sent, when there is no room for all of them.
    private func send(_ batch: DeliveryBatch) -> Bool {
        guard let eventConnection, let burst = batch.burst(encoding) else { return false }
        return eventConnection.send(burst)
    }

    /// Forwards several events, as one unit where no event needs a look of its own.
    public func deliver(_ batch: DeliveryBatch) {
        if !isTranslating, origin == nil || !batch.hasEvent(of: origin), send(batch) { return }
        for delivery in batch.deliveries { deliver(delivery, isBacklog: false) }
    }

    /// Whether the session is a member of the topic, or is joining it.
    public func hears(_ topic: Topic) -> Bool {
        memberships.contains { $0.feed.topic == topic } || followed[topic] != nil
    }

    private func noteFollowing() {
        isTranslating = state.followings != nil || !followed.isEmpty
    }

    /// The event in the form for this client, whose own topic may follow others.
    ///
    /// An event of a followed topic becomes one of the own topic, without a position. `nil` until the client has
    /// received `subscribed`.
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
