public import Connections
public import Core
public import Dialects
public import Rights
import Service
public import Topics

/// The client of a connection: runs its dialect machine and its client sessions.
///
/// The transport passes bytes to the dialect machine, which passes requests to a session. Answers take the same way
/// back. Events pass the machine by: the session's bytes go to the transport, and only a dialect that decorates events
/// is asked for more (``EventDecorating``). Thread: the shard's.
public final class Peer: SessionOutput {
    /// `nil` once the connection has ended.
    private var transport: (any ClientTransport)?
    /// Whether the dialect machine decorates events now.
    private var isDecorating: Bool
    /// Whether the client has proven in one of its sessions to be more than an open socket; this then holds for all of
    /// them.
    private var isEstablished = false
    private unowned let services: SessionServices
    private var attached = Few<Session>()
    private var machine: any DialectMachine
    private let dialect: any Dialect
    /// The caller that opened the connection.
    private let caller: Caller
    /// Budget of sessions that may be opened.
    ///
    /// Checking a token costs a signature verification, and each session begins with full rates.
    private var openings: TokenBucket
    /// Records what passes; `nil` while no operator watches.
    var tap: WireTap?

    /// A client that speaks the dialect; the dialect machine starts with ``begin(on:)``.
    public init(_ services: SessionServices, dialect: any Dialect, caller: Caller) {
        self.services = services
        self.dialect = dialect
        self.caller = caller
        machine = dialect.converse()
        openings = TokenBucket(services.rules.authenticationRate, nowMs: services.clock.nowMs)
        isDecorating = machine.isDecorating
    }

    // MARK: From the transport

    /// The transport is open.
    public func begin(on transport: any ClientTransport) {
        self.transport = transport
        converse { $0.began(nowMs: services.clock.nowMs, &$1) }
    }

    /// The connection continues on another transport.
    public func move(to transport: any ClientTransport) {
        self.transport = transport
        for session in attached {
            let encoder = dialect.encoders[machine.encoder(of: session.sessionID)]
            session.encoding = services.encodings.encoding(encoder, transport.framing)
        }
        connectEvents()
    }

    /// Processes a whole message; false when no session was charged for it.
    public func received(_ message: [UInt8], as kind: MessageKind) -> Bool {
        if let tap { tap.note(.received, WireUnit(kind, message)) }
        return converse { $0.received(message, as: kind, nowMs: services.clock.nowMs, &$1) }
    }

    /// Milliseconds for which the transport must not read from the client, since it sends too fast; 0 when it may read.
    public var readDelayMs: Int { attached.reduce(0) { max($0, $1.readDelayMs) } }

    /// The time at which ``deadlineReached()`` must be called, monotonic milliseconds.
    public var deadlineMs: Int { attached.reduce(machine.deadlineMs) { min($0, $1.deadlineMs) } }

    /// Processes everything whose deadline has passed.
    public func deadlineReached() {
        let nowMs = services.clock.nowMs
        if nowMs >= machine.deadlineMs { converse { $0.deadlineReached(nowMs: nowMs, &$1) } }
        for session in attached { session.deadlineReached() }
    }

    /// Sends the client a message about the gateway itself; the dialect machine picks the session.
    public func send(_ message: ServerMessage) {
        send(message, at: .main, ref: nil)
    }

    /// The encoding of a topic's gap; `nil` when several sessions receive the topic.
    ///
    /// Their events cannot be told apart in the queue.
    public func encoding(of topic: Topic) -> Encoding? {
        let hearers = attached.filter { $0.hears(topic) }
        return hearers.count == 1 ? hearers[0].encoding : nil
    }

    /// The connection has ended: every session ends and leaves its topics.
    ///
    /// `waiting` are the items that have not been written.
    public func ended(_ reason: CloseReason, waiting: [OutboundItem]) {
        transport = nil
        let ending = attached
        attached = Few()
        tap?.end(.closed(reason))
        let unsent = waiting.firstPositions
        for session in ending { session.ended(reason, unsent: unsent) }
    }

    /// The connection discards the items that wait, since the client reads too slowly.
    public func discards(_ waiting: [OutboundItem]) {
        let unsent = waiting.firstPositions
        for session in attached { session.note(unsent: unsent) }
        tap?.dropped(waiting)
    }

    /// Newer events replaced others in the queue of the connection, by topic.
    public func conflated(_ replaced: [Topic: ReplacedEvents]) {
        for (topic, events) in replaced {
            guard let session = attached.first(where: { $0.hears(topic) }) else { continue }
            session.note(conflated: events.ranges, isWhole: events.isWhole, epoch: events.epoch, of: topic)
        }
        tap?.conflated(replaced)
    }

    /// The caller that the log names: the first one that is not anonymous, or else the one that opened the connection.
    public var knownCaller: Caller {
        attached.first { !$0.caller.isAnonymous }?.caller ?? caller
    }

    /// The sessions of the connection.
    public var sessions: [Session] { Array(attached) }

    /// Visits the sessions, without a list of them.
    public func visitSessions(_ visit: (Session) -> Void) {
        for session in attached { visit(session) }
    }

    // MARK: The dialect machine

    /// Passes input to the dialect machine and performs its steps; false when no step was a request to a session.
    @discardableResult
    private func converse(_ take: (inout any DialectMachine, inout [DialectStep]) -> Void) -> Bool {
        var steps: [DialectStep] = []
        let earlierMs = machine.deadlineMs
        take(&machine, &steps)
        if isDecorating != machine.isDecorating {
            isDecorating = machine.isDecorating
            connectEvents()
        }
        let deadlineMs = machine.deadlineMs
        var hasAsked = false
        for step in steps where transport != nil {
            if case .request(let sessionID, _) = step, session(sessionID) != nil { hasAsked = true }
            perform(step)
        }
        if deadlineMs < earlierMs { transport?.deadlineChanged() }
        return hasAsked
    }

    private func perform(_ step: DialectStep) {
        switch step {
        case .say(let unit):
            if let tap { tap.note(.sent, unit) }
            transport?.send(unit)
        case .open(let sessionID, let token): open(sessionID, token)
        case .request(let sessionID, let message): session(sessionID)?.received(message)
        case .end(let sessionID): end(sessionID)
        case .close(let reason): transport?.close(reason)
        }
    }

    private func open(_ sessionID: SessionID, _ token: [UInt8]?) {
        guard session(sessionID) == nil else { return }
        let (rate, nowMs) = (services.rules.authenticationRate, services.clock.nowMs)
        guard openings.take(of: rate, nowMs: nowMs) else {
            let waitMs = max(openings.waitMs(of: rate, nowMs: nowMs) ?? 1, 1)
            let refusal = Refusal(.rateLimited, "too many doors opened in a row", retryAfterMs: waitMs)
            converse { $0.refused(sessionID, refusal, &$1) }
            return
        }
        switch services.callers.admit(caller, showing: token, at: address) {
        case .failure(let refusal):
            converse { $0.refused(sessionID, refusal, &$1) }
        case .success(let caller):
            guard let transport else { return }
            let encoding = services.encodings.encoding(
                dialect.encoders[machine.encoder(of: sessionID)], transport.framing)
            let session = Session(services, output: self, sessionID: sessionID, encoding: encoding, caller: caller)
            attached.append(session)
            connectEvents()
            if isEstablished { session.proven() }
            converse { $0.opened(sessionID, by: Peer.user(caller), &$1) }
            transport.deadlineChanged()
        }
    }

    /// Lets the sessions send events to the connection itself, while the dialect machine adds nothing to them.
    ///
    /// A delivery then touches the session and the connection, and neither the peer nor the transport. While an
    /// operator watches, events pass the peer: so a tap costs those nothing that are not watched.
    func connectEvents() {
        let connection = isDecorating || tap != nil ? nil : transport?.eventConnection
        for session in attached { session.sendEvents(to: connection) }
    }

    private static func user(_ caller: Caller) -> [UInt8]? {
        if case .user(let identity) = caller { identity.user } else { nil }
    }

    private func end(_ sessionID: SessionID) {
        guard let index = attached.firstIndex(where: { $0.sessionID == sessionID }) else { return }
        attached.remove(at: index).ended(.normal, unsent: [:])
        transport?.deadlineChanged()
    }

    private func session(_ sessionID: SessionID) -> Session? {
        attached.first { $0.sessionID == sessionID }
    }

    // MARK: From the sessions

    var address: IPAddress? { transport?.address }

    var load: QueueLoad { transport?.load ?? QueueLoad() }

    var dialectName: String { dialect.encoders.first?.name ?? "" }

    func topicsHeld(besides sessionID: SessionID) -> Int {
        attached.reduce(0) { $1.sessionID == sessionID ? $0 : $0 + $1.heldCount }
    }

    func send(_ message: ServerMessage, at sessionID: SessionID, ref: Reference?) {
        guard transport != nil else { return }
        converse { $0.send(message, at: sessionID, ref: ref, &$1) }
    }

    func send(_ delivery: Delivery, _ encoding: Encoding, at sessionID: SessionID, isBacklog: Bool) -> Bool {
        guard let transport else {
            // The connection has ended, and the session receives what had come before it leaves its topics.
            services.reports.undeliverable(delivery)
            return true
        }
        var own: EventDecoration?
        if isDecorating, let position = delivery.message.position {
            own = machine.decorate(delivery.topic, position, at: sessionID) {
                encoding.units(delivery.topic, delivery.message)
            }
        }
        let isTaken = transport.send(delivery, encoding, own: own, isBacklog: isBacklog)
        if isTaken, let tap { tap.sent(delivery.units(encoding), own) }
        return isTaken
    }

    func firstWaiting(of topic: Topic) -> Position? {
        func position(_ item: OutboundItem) -> Position? {
            guard let delivery = item as? Delivery, delivery.topic == topic else { return nil }
            return delivery.message.position
        }
        return transport?.firstWaiting { position($0) != nil }.flatMap(position)
    }

    func close(_ reason: CloseReason) { transport?.close(reason) }

    func established() {
        guard !isEstablished else { return }
        isEstablished = true
        transport?.established()
        for session in attached { session.proven() }
    }

    /// The WebSocket close code of a reason; `nil` where the dialect has none.
    public func closeCode(_ reason: CloseReason) -> UInt16? { dialect.closeCode(reason) }

    func deadlineChanged() { transport?.deadlineChanged() }
}
