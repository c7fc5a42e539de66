public import Core

/// A Socket.IO connection: Engine.IO's open packet and heartbeat, and one session for each namespace that it is in.
///
/// It is the same over polling and over a WebSocket, because a WebSocket message and a packet of a payload mean the
/// same. A malformed packet ends the connection with `bad_request`, as clients of this protocol expect. A well-formed
/// request that cannot be fulfilled receives an error.
public struct SocketIOMachine: DialectMachine {
    /// The client's membership of a namespace, or its pending entry.
    struct Membership {
        let sessionID: SessionID
        let positions: Bool
        var requests: SocketRequests
        /// The user of the token that opened it; `nil` for an anonymous client.
        var user: [UInt8]?
        var isOpen = false
        /// `nil` for a client that did not ask for it.
        var recovery: SocketIORecovery?
    }

    /// A packet whose attachments are still to come.
    private struct Unfinished {
        let packet: SocketIOPacket
        var attachments: [[UInt8]] = []
        var bytes = 0
    }

    let dialect: SocketIODialect
    private let sid: [UInt8]
    private let upgrades: Bool
    private var heartbeat: EngineHeartbeat
    /// The time at which a connection in no namespace ends; a refused namespace does not extend it.
    var connectDeadlineMs = Int.max
    var memberships: [Int: Membership] = [:]
    private var lastSessionID = SessionID.main.number
    private var unfinished: Unfinished?
    private var batches = SubscribeBatches()
    private var isOver = false

    init(_ dialect: SocketIODialect, sid: [UInt8], upgrades: Bool) {
        self.dialect = dialect
        self.sid = sid
        self.upgrades = upgrades
        heartbeat = EngineHeartbeat(
            intervalMs: dialect.settings.pingIntervalMs, timeoutMs: dialect.settings.pingTimeoutMs)
    }

    /// The time of the next ping, or of the end of a client that is silent or in no namespace.
    public var deadlineMs: Int {
        if isOver { return Int.max }
        return hasFailedRecovery ? 0 : min(heartbeat.deadlineMs, connectDeadlineMs)
    }

    /// Sends the open packet; the client enters namespaces after it.
    public mutating func began(nowMs: Int, _ steps: inout [DialectStep]) {
        heartbeat.lives(nowMs: nowMs)
        connectDeadlineMs = nowMs + dialect.settings.connectMs
        steps.append(.say(WireUnit(.text, SocketIOText.open(sid: sid, upgrades: upgrades, dialect.settings))))
    }

    /// Sends a ping, or ends the connection.
    public mutating func deadlineReached(nowMs: Int, _ steps: inout [DialectStep]) {
        guard !isOver else { return }
        if nowMs >= connectDeadlineMs { return close(.timeout, &steps) }
        beginAnew(&steps)
        switch heartbeat.due(nowMs: nowMs) {
        case .nothing: return
        case .ping: steps.append(.say(WireUnit(.text, [EnginePacket.Kind.ping.rawValue])))
        case .gone: close(.timeout, &steps)
        }
    }

    /// Reads one Engine.IO packet.
    public mutating func received(
        _ message: [UInt8], as kind: MessageKind, nowMs: Int, _ steps: inout [DialectStep]
    ) {
        guard !isOver else { return }
        guard let packet = EnginePacket(message: message, as: kind) else { return close(.badRequest, &steps) }
        switch packet.kind {
        case .open, .upgrade, .noop: return
        case .pong: heartbeat.lives(nowMs: nowMs)
        case .close: close(.normal, &steps)
        case .ping: close(.badRequest, &steps)
        case .message: text(packet.payload, nowMs: nowMs, &steps)
        case .bytes: attachment(packet.payload, nowMs: nowMs, &steps)
        }
    }

    /// The client is in the namespace, or will be once it has recovered its topics there.
    public mutating func opened(_ sessionID: SessionID, by user: [UInt8]?, _ steps: inout [DialectStep]) {
        guard let number = number(of: sessionID) else { return }
        memberships[number]?.user = user
        guard memberships[number]?.recovery != nil else { return enter(number, sid: dialect.makeID(), &steps) }
        recover(number, user, &steps)
    }

    /// The client may not enter, or has to leave: it receives the reason, and the connection stays open.
    public mutating func refused(_ sessionID: SessionID, _ refusal: Refusal, _ steps: inout [DialectStep]) {
        guard let number = number(of: sessionID), let membership = memberships.removeValue(forKey: number) else {
            return
        }
        let name = dialect.names[number]
        batches.ended(sessionID)
        guard membership.isOpen else {
            steps.append(.say(WireUnit(.text, SocketIOText.refused(name, refusal))))
            return
        }
        if isOutside { connectDeadlineMs = heartbeat.deadlineMs }
        let error = SocketIOAnswer.argument(of: .error(refusal, topic: nil))
        steps += SocketIOText.event(name, "error", error).map { .say($0) }
        steps.append(.say(WireUnit(.text, SocketIOText.disconnected(name))))
    }

    /// Sends the message as the acknowledgement that the client waits for, or as an event.
    public mutating func send(
        _ message: ServerMessage, at sessionID: SessionID, ref: Reference?, _ steps: inout [DialectStep]
    ) {
        // A message about the connection is sent in each of its namespaces: a client's handlers belong to one.
        guard sessionID != .main else {
            for (number, membership) in memberships.sorted(by: { $0.key < $1.key }) where membership.isOpen {
                say(message, in: number, &steps)
            }
            return
        }
        guard let number = number(of: sessionID) else { return }
        let following = memberships[number]?.requests.sent(message, at: dialect.sockets[number]) ?? []
        if memberships[number]?.recovery?.waiting.isEmpty == false { return recovering(message, number, &steps) }
        answer(message, ref.flatMap(SocketIOReference.init), in: number, &steps)
        if memberships[number]?.recovery?.places.sent(message) == true { tellPlaces(number, &steps) }
        for request in following { steps.append(.request(sessionID, .success(request))) }
    }

    /// The encoder of the session's namespace and of its choice of positions.
    public func encoder(of sessionID: SessionID) -> Int {
        number(of: sessionID).map { 2 * $0 + (memberships[$0]?.positions == true ? 1 : 0) } ?? 0
    }
}

// MARK: Packets

extension SocketIOMachine {
    private mutating func text(_ payload: ArraySlice<UInt8>, nowMs: Int, _ steps: inout [DialectStep]) {
        guard unfinished == nil, let packet = SocketIOPacket(parsing: payload, json: dialect.settings.json) else {
            return close(.badRequest, &steps)
        }
        guard packet.attachments == 0 else {
            unfinished = Unfinished(packet: packet)
            return
        }
        finished(packet, nowMs: nowMs, &steps)
    }

    /// Collects attachments up to the last, within the bytes that one packet may have.
    private mutating func attachment(_ bytes: ArraySlice<UInt8>, nowMs: Int, _ steps: inout [DialectStep]) {
        guard var waiting = unfinished else { return close(.badRequest, &steps) }
        unfinished = nil
        waiting.bytes += bytes.count
        guard waiting.bytes <= dialect.settings.payloadBytesMax else { return close(.messageTooBig, &steps) }
        waiting.attachments.append(Array(bytes))
        guard waiting.attachments.count == waiting.packet.attachments else { return unfinished = waiting }
        finished(waiting.packet.filled(with: waiting.attachments, dialect.settings.json), nowMs: nowMs, &steps)
    }

    private mutating func finished(_ packet: SocketIOPacket, nowMs: Int, _ steps: inout [DialectStep]) {
        let number = dialect.number(of: packet.namespace)
        guard packet.kind != .connect else { return connect(packet, number, &steps) }
        guard let number, let membership = memberships[number], membership.isOpen else {
            return close(.badRequest, &steps)
        }
        switch packet.kind {
        case .disconnect:
            memberships[number] = nil
            batches.ended(membership.sessionID)
            if isOutside { connectDeadlineMs = nowMs + dialect.settings.connectMs }
            steps.append(.end(membership.sessionID))
        case .event, .binaryEvent:
            event(packet, number, membership.sessionID, &steps)
        case .connect, .ack, .connectError, .binaryAck:
            // The gateway asks clients for no acknowledgement, so none can match a request.
            return
        }
    }

    private mutating func connect(_ packet: SocketIOPacket, _ number: Int?, _ steps: inout [DialectStep]) {
        guard let number else {
            steps.append(.say(WireUnit(.text, SocketIOText.refused(packet.namespace, nil))))
            return
        }
        guard memberships[number] == nil else { return close(.badRequest, &steps) }
        do throws(Refusal) {
            let shown = try credentials(packet.payload)
            open(number, token: shown.token, positions: shown.positions, shown.recovery, &steps)
        } catch {
            steps.append(.say(WireUnit(.text, SocketIOText.refused(packet.namespace, error))))
        }
    }

    mutating func open(
        _ number: Int, token: [UInt8]?, positions: Bool, _ recovery: SocketIORecovery?,
        _ steps: inout [DialectStep]
    ) {
        lastSessionID += 1
        let sessionID = SessionID(lastSessionID)
        memberships[number] = Membership(
            sessionID: sessionID, positions: positions, requests: SocketRequests(),
            recovery: recovery)
        steps.append(.open(sessionID, token: token))
    }

    /// Reads the members `token`, `positions` and `recovery` that a client presents when it connects.
    private func credentials(
        _ payload: SocketIOPacket.Payload
    ) throws(Refusal) -> (token: [UInt8]?, positions: Bool, recovery: SocketIORecovery?) {
        let shown: JSON.Value
        switch payload {
        case .none: return (nil, false, nil)
        case .refused(let refusal): throw refusal
        case .value(let value): shown = value
        }
        let token = NativeDecoder.present(shown["token"])
        guard token == nil || token?.kind == .string else {
            throw Refusal(.badRequest, "The member \"token\" of \"auth\" must be a string.")
        }
        let positions = NativeDecoder.present(shown["positions"])
        guard positions == nil || positions?.bool != nil else {
            throw Refusal(.badRequest, "The member \"positions\" of \"auth\" must be true or false.")
        }
        let recovers = NativeDecoder.present(shown["recovery"])
        guard recovers == nil || recovers?.bool != nil else {
            throw Refusal(.badRequest, "The member \"recovery\" of \"auth\" must be true or false.")
        }
        var recovery: SocketIORecovery?
        if recovers?.bool == true {
            recovery = SocketIORecovery()
            // The library adds these by itself.
            if let pid = shown["pid"]?.stringBytes, let offset = shown["offset"]?.stringBytes {
                recovery?.shown = SocketIORecovery.Shown(pid: pid, offset: offset)
                recovery?.token = token?.stringBytes
            }
        }
        return (token?.stringBytes, positions?.bool ?? false, recovery)
    }

    private mutating func event(
        _ packet: SocketIOPacket, _ number: Int, _ sessionID: SessionID, _ steps: inout [DialectStep]
    ) {
        var ref = packet.ackID.flatMap { SocketIOReference(sessionID: sessionID, ackID: $0).reference }
        do throws(Refusal) {
            let decoder = SocketIODecoder(settings: dialect.settings, socket: dialect.sockets[number])
            let command = try decoder.command(packet)
            if let ackID = packet.ackID, let topics = listedTopics(of: command, packet) {
                guard let batch = batches.begin(topics, at: sessionID) else {
                    throw Refusal(.rateLimited, "Too many requests for several topics wait for their answers.")
                }
                ref = SocketIOReference(sessionID: sessionID, ackID: ackID, batch: batch).reference
            }
            if case .subscribe(let asked) = command { memberships[number]?.recovery?.places.asks(asked) }
            // An acknowledgement's number counts on this connection and in its namespace.
            let request = ClientRequest(command: command, ref: ref, operation: ref.map { .numbered($0.bytes) })
            let filled = memberships[number]?.requests.received(request, at: dialect.sockets[number])
            steps.append(.request(sessionID, .success(filled ?? request)))
        } catch {
            steps.append(.request(sessionID, .failure(DialectRefusal(refusal: error, ref: ref, close: nil))))
        }
    }

    /// The topics of a request that names a list of them; its answer is a list as well, also for one topic.
    private func listedTopics(of command: ClientCommand, _ packet: SocketIOPacket) -> [Topic]? {
        guard case .value(let event) = packet.payload else { return nil }
        var members = event.members
        _ = members.next()
        guard let argument = members.next(), NativeDecoder.present(argument["topics"]) != nil else { return nil }
        return switch command {
        case .subscribe(let requests): requests.map(\.topic)
        case .unsubscribe(let topics): topics
        default: nil
        }
    }
}

// MARK: Answers

extension SocketIOMachine {
    private mutating func answer(
        _ message: ServerMessage, _ reference: SocketIOReference?, in number: Int, _ steps: inout [DialectStep]
    ) {
        defer { sayFirst(message, in: number, &steps) }
        guard let reference else { return say(message, in: number, &steps) }
        guard let batch = reference.batch else {
            return acknowledge(acknowledgement(message, number), reference.ackID, in: number, &steps)
        }
        answered(message, batch, reference.ackID, in: number, &steps)
    }

    private func acknowledgement(_ message: ServerMessage, _ number: Int) -> [UInt8] {
        SocketIOAnswer.acknowledgement(message, dialect.sockets[number])
    }

    /// Stores one of several answers; a join is also sent at once, as an event, since the topic's events follow it.
    private mutating func answered(
        _ message: ServerMessage, _ batch: Int, _ ackID: Int, in number: Int, _ steps: inout [DialectStep]
    ) {
        let answered: Topic?
        switch message {
        case .subscribed(let topic, _, _, _):
            say(message, in: number, &steps)
            answered = topic
        case .unsubscribed(let topic): answered = topic
        case .error(_, _, let topic, _): answered = topic
        default: answered = nil
        }
        guard let answered else {
            guard batches.refused(batch) else { return }
            return acknowledge(acknowledgement(message, number), ackID, in: number, &steps)
        }
        let result = SocketIOAnswer.result(message, dialect.sockets[number])
        guard let results = batches.answered(batch, answered, result) else { return }
        acknowledge(SocketIOText.batch(results), ackID, in: number, &steps)
    }

    private func acknowledge(_ argument: [UInt8], _ ackID: Int, in number: Int, _ steps: inout [DialectStep]) {
        steps += SocketIOText.ack(dialect.names[number], ackID, argument).map { .say($0) }
    }

    private func say(_ message: ServerMessage, in number: Int, _ steps: inout [DialectStep]) {
        guard let name = NativeEncoder.eventName(of: message) else { return }
        let argument = SocketIOAnswer.argument(of: message, dialect.sockets[number])
        steps += SocketIOText.event(dialect.names[number], "\(name)", argument).map { .say($0) }
    }

    /// Tells a joined topic's state as an event, where the namespace of Socket.IO has a name for it.
    private func sayFirst(_ message: ServerMessage, in number: Int, _ steps: inout [DialectStep]) {
        guard let first = dialect.sockets[number].first(message) else { return }
        steps += SocketIOText.event(dialect.names[number], first.event.description, first.state).map { .say($0) }
    }

    /// The namespace of a session that is open or opening.
    func number(of sessionID: SessionID) -> Int? {
        memberships.first { $0.value.sessionID == sessionID }?.key
    }

    /// Whether the client is in no namespace.
    private var isOutside: Bool { !memberships.values.contains { $0.isOpen } }

    private mutating func close(_ reason: CloseReason, _ steps: inout [DialectStep]) {
        isOver = true
        steps.append(.close(reason))
    }
}
