import Core
import Dialects
import Rights

/// The client of a connection: runs its dialect machine and its client sessions.
///
/// The transport passes bytes to the dialect machine, which passes requests to a session. Answers take the same way
/// back. Sessions send events to the transport directly. Thread: the shard's.
final class Peer: Outlet {
    private struct Entrance {
        let door: Door
        let session: Session
    }

    private unowned let host: any PeerHost
    private let dialect: any Dialect
    private var conversation: any Conversation
    /// The caller that opened the connection.
    private let caller: Caller
    /// `nil` once the connection has ended.
    private var line: (any Line)?
    private var entrances: [Entrance] = []
    /// Whether the client has proven in one of its sessions to be more than an open socket; this then holds for all of
    /// them.
    private var isEstablished = false
    /// Budget of sessions that may be opened.
    ///
    /// Checking a token costs a signature verification, and each session begins with full rates.
    private var openings: TokenBucket
    /// Whether the dialect machine adds a mark to each event.
    private var isMarking: Bool

    /// A client that speaks the dialect; the dialect machine starts with ``begin(on:)``.
    init(host: any PeerHost, dialect: any Dialect, caller: Caller) {
        self.host = host
        self.dialect = dialect
        self.caller = caller
        conversation = dialect.converse()
        let perSecond = host.sessionRules.limits.authenticationsPerSecond
        openings = TokenBucket(RateLimit(perSecond: perSecond, burst: perSecond * 10), nowMs: host.nowMs)
        isMarking = conversation.marksEvents
    }

    // MARK: From the transport

    /// The transport is open.
    func begin(on line: any Line) {
        self.line = line
        converse { $0.began(nowMs: host.nowMs, &$1) }
    }

    /// The connection continues on another transport.
    func move(to line: any Line) {
        self.line = line
        for entrance in entrances {
            let encoder = dialect.encoders[conversation.encoder(of: entrance.door)]
            entrance.session.encoding = host.encoding(encoder, line.framing)
        }
    }

    /// Processes a whole message; false when no session was charged for it.
    func received(_ message: [UInt8], as kind: MessageKind) -> Bool {
        converse { $0.received(message, as: kind, nowMs: host.nowMs, &$1) }
    }

    /// Milliseconds for which the transport must not read from the client, since it sends too fast; 0 when it may read.
    var readDelayMs: Int { entrances.reduce(0) { max($0, $1.session.readDelayMs) } }

    /// The time at which ``deadlineReached()`` must be called, monotonic milliseconds.
    var deadlineMs: Int { entrances.reduce(conversation.deadlineMs) { min($0, $1.session.deadlineMs) } }

    /// Processes everything whose deadline has passed.
    func deadlineReached() {
        let nowMs = host.nowMs
        if nowMs >= conversation.deadlineMs { converse { $0.deadlineReached(nowMs: nowMs, &$1) } }
        for entrance in entrances { entrance.session.deadlineReached() }
    }

    /// Sends the client a message about the gateway itself; the dialect machine picks the session.
    func tell(_ message: ServerMessage) {
        tell(message, at: .main, ref: nil)
    }

    /// The encoding of a topic's gap; `nil` when several sessions receive the topic.
    ///
    /// Their events cannot be told apart in the queue.
    func encoding(of topic: Topic) -> Encoding? {
        let hearers = entrances.filter { $0.session.hears(topic) }
        return hearers.count == 1 ? hearers[0].session.encoding : nil
    }

    /// The connection has ended: every session ends and leaves its topics.
    func ended() {
        line = nil
        let entrances = entrances
        self.entrances = []
        for entrance in entrances { entrance.session.ended() }
    }

    /// The caller that the log names: the first one that is not anonymous, or else the one that opened the connection.
    var knownCaller: Caller { entrances.first { !$0.session.caller.isAnonymous }?.session.caller ?? caller }

    /// The sessions of the connection.
    var sessions: [Session] { entrances.map(\.session) }

    // MARK: The dialect machine

    /// Passes input to the dialect machine and performs its steps; false when no step was a request to a session.
    @discardableResult
    private func converse(_ take: (inout any Conversation, inout [ConversationStep]) -> Void) -> Bool {
        var steps: [ConversationStep] = []
        let earlierMs = conversation.deadlineMs
        take(&conversation, &steps)
        isMarking = conversation.marksEvents
        let deadlineMs = conversation.deadlineMs
        var hasAsked = false
        for step in steps where line != nil {
            if case .request(let door, _) = step, session(door) != nil { hasAsked = true }
            perform(step)
        }
        if deadlineMs < earlierMs { line?.deadlineChanged() }
        return hasAsked
    }

    private func perform(_ step: ConversationStep) {
        switch step {
        case .say(let unit): line?.send(unit)
        case .open(let door, let token): open(door, token)
        case .request(let door, let message): session(door)?.received(message)
        case .end(let door): end(door)
        case .close(let reason): line?.close(reason)
        }
    }

    private func open(_ door: Door, _ token: [UInt8]?) {
        guard session(door) == nil else { return }
        guard openings.take(nowMs: host.nowMs) else {
            let waitMs = max(openings.waitMs(nowMs: host.nowMs) ?? 1, 1)
            let refusal = Refusal(.rateLimited, "too many doors opened in a row", retryAfterMs: waitMs)
            converse { $0.refused(door, refusal, &$1) }
            return
        }
        switch host.admit(caller, showing: token, at: address) {
        case .failure(let refusal):
            converse { $0.refused(door, refusal, &$1) }
        case .success(let caller):
            guard let line else { return }
            let encoding = host.encoding(dialect.encoders[conversation.encoder(of: door)], line.framing)
            let session = Session(host: host, outlet: self, door: door, encoding: encoding, caller: caller)
            entrances.append(Entrance(door: door, session: session))
            if isEstablished { session.proven() }
            converse { $0.opened(door, by: Peer.user(caller), &$1) }
            line.deadlineChanged()
        }
    }

    private static func user(_ caller: Caller) -> [UInt8]? {
        if case .user(let identity) = caller { identity.user } else { nil }
    }

    private func end(_ door: Door) {
        guard let index = entrances.firstIndex(where: { $0.door == door }) else { return }
        entrances.remove(at: index).session.ended()
        line?.deadlineChanged()
    }

    private func session(_ door: Door) -> Session? {
        entrances.first { $0.door == door }?.session
    }

    // MARK: From the sessions

    var address: IPAddress? { line?.address }

    func topicsHeld(besides door: Door) -> Int {
        entrances.reduce(0) { $1.door == door ? $0 : $0 + $1.session.heldCount }
    }

    func tell(_ message: ServerMessage, at door: Door, ref: Reference?) {
        guard line != nil else { return }
        converse { $0.told(message, at: door, ref: ref, &$1) }
    }

    func replayed(
        _ events: [ChannelMessage], of topic: Topic, upTo position: Position, at door: Door, ref: Reference?
    ) {
        guard line != nil else { return }
        conversation.replayed(events, of: topic, upTo: position, at: door, ref: ref)
    }

    func send(_ delivery: Delivery, _ encoding: Encoding, at door: Door, isOwed: Bool) -> Bool {
        guard let line else { return true }
        var own: OwnWords?
        if isMarking, let position = delivery.message.position {
            if let mark = conversation.mark(delivery.topic, position) {
                own = .before(mark)
            } else {
                own = conversation.own(delivery.topic, position, at: door) {
                    encoding.units(delivery.topic, delivery.message)
                }.map { .instead($0) }
            }
        }
        return line.send(delivery, encoding, own: own, isOwed: isOwed)
    }

    func send(_ batch: DeliveryBatch, _ encoding: Encoding) -> Bool {
        isMarking ? false : line?.send(batch, encoding) ?? false
    }

    func operation(of ref: Reference) -> OperationName? { conversation.operation(of: ref) }

    func close(_ reason: CloseReason) { line?.close(reason) }

    func established() {
        guard !isEstablished else { return }
        isEstablished = true
        line?.established()
        for entrance in entrances { entrance.session.proven() }
    }

    /// The WebSocket close code of a reason; `nil` where the dialect has none.
    func closeCode(_ reason: CloseReason) -> UInt16? { dialect.closeCode(reason) }

    func deadlineChanged() { line?.deadlineChanged() }
}
