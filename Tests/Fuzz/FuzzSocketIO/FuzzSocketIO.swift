import Core
import Dialects

private let json = JSON.Limits(depthMax: 16, elementsMax: 1_000)
private let dialect = SocketIODialect(
    namespaces: ["/", "/queue", "/bookings", "/social", "/dj", "/challenges"],
    settings: SocketIODialect.Settings(
        pingIntervalMs: 300, pingTimeoutMs: 200, payloadBytesMax: 4_096, connectMs: 1_000, json: json,
        subscribeBatchMax: 4, publishBytesMax: 1_024),
    prove: { [UInt8(ascii: "a") + UInt8($0.reduce(0) { $0 &+ Int($1) } % 26)] }
) { Array("id".utf8) }

/// Takes arbitrary bytes as what one client sends, messages apart by the byte 0x1E as in a poll.
///
/// The session grants whatever is asked in the first half of requests and refuses the rest. All that is said must be a
/// packet that the same parsers read, and nothing may be said or asked after the end.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    var session = Session()
    session.step { $0.began(nowMs: 0, &$1) }
    var nowMs = 0
    for message in bytes.split(separator: EnginePayload.separator, omittingEmptySubsequences: false) {
        if message.first == UInt8(ascii: "b") {
            session.step { $0.received(Array(message.dropFirst()), as: .binary, nowMs: nowMs, &$1) }
        } else if UTF8Text.isValid(Array(message)) {
            session.step { $0.received(Array(message), as: .text, nowMs: nowMs, &$1) }
        }
        nowMs += 37
        if nowMs >= session.machine.deadlineMs { session.step { $0.deadlineReached(nowMs: nowMs, &$1) } }
    }
    return 0
}

/// The session's side of a conversation.
private struct Session {
    var machine = dialect.converse(sid: Array("e".utf8), upgrades: true)
    private var sessionIDs: Set<SessionID> = []
    private var requests = 0
    private var isOver = false
    /// Attachments that must be said before anything else.
    private var attachments = 0

    mutating func step(_ act: (inout SocketIOMachine, inout [DialectStep]) -> Void) {
        var steps: [DialectStep] = []
        act(&machine, &steps)
        precondition(!isOver || steps.isEmpty)
        for step in steps {
            precondition(!isOver)
            follow(step)
        }
    }

    private mutating func follow(_ step: DialectStep) {
        switch step {
        case .say(let unit):
            guard attachments == 0 else {
                precondition(unit.kind == .binary)
                return attachments -= 1
            }
            attachments = check(unit)
        case .open(let sessionID, let token):
            precondition(sessionID != .main && !sessionIDs.contains(sessionID))
            if token?.first == UInt8(ascii: "x") {
                self.step { $0.refused(sessionID, Refusal(.unauthorized, "No."), &$1) }
            } else {
                sessionIDs.insert(sessionID)
                self.step { $0.opened(sessionID, by: token, &$1) }
            }
        case .request(let sessionID, let request):
            precondition(sessionIDs.contains(sessionID))
            precondition(dialect.encoders.indices.contains(machine.encoder(of: sessionID)))
            requests += 1
            answer(request, at: sessionID)
        case .end(let sessionID):
            precondition(sessionIDs.remove(sessionID) != nil)
        case .close:
            isOver = true
        }
    }

    private mutating func answer(_ request: Result<ClientRequest, DialectRefusal>, at sessionID: SessionID) {
        switch request {
        case .failure(let failure):
            step { $0.send(.error(failure.refusal, topic: nil), at: sessionID, ref: failure.ref, &$1) }
        case .success(let request):
            for answer in answers(to: request.command, refuses: requests > 4) {
                step { $0.send(answer, at: sessionID, ref: request.ref, &$1) }
            }
        }
    }
}

/// The answers of a session to a command, made of what the client sent.
private func answers(to command: ClientCommand, refuses: Bool) -> [ServerMessage] {
    switch command {
    case .authenticate(let token), .refresh(let token):
        return [.authenticated(userID: token, expiresAt: token.count)]
    case .subscribe(let requests):
        precondition((1...4).contains(requests.count))
        return requests.map { request in
            guard !refuses, let since = request.since else {
                return .error(Refusal(.forbidden, "No."), topic: request.topic)
            }
            return .subscribed(topic: request.topic, position: since, recovered: true, state: Array("[1]".utf8))
        }
    case .unsubscribe(let topics):
        return topics.map { .unsubscribed(topic: $0) }
    case .publish(let publish):
        precondition(!publish.event.isReserved && publish.data.count <= 1_024)
        return [.ack(data: publish.data)]
    case .track(let request):
        return [.presence(topic: request.topic, members: refuses ? nil : Array("[1]".utf8))]
    case .untrack:
        return [.ack(data: Array("{}".utf8))]
    case .command(_, let arguments):
        return [.ack(data: arguments.raw)]
    case .ping:
        return [.pong]
    }
}

/// Traps unless the unit is one text packet that the parsers read; tells how many attachments it announces.
private func check(_ unit: WireUnit) -> Int {
    precondition(unit.kind == .text && !unit.bytes.contains(EnginePayload.separator))
    guard let packet = EnginePacket(message: unit.bytes, as: .text) else { preconditionFailure("no packet") }
    switch packet.kind {
    case .open:
        let limits = JSON.Limits(depthMax: 2, elementsMax: 10)
        precondition((try? JSON(parsing: Array(packet.payload), limits: limits)) != nil)
    case .ping:
        precondition(packet.payload.isEmpty)
    case .message:
        // A few levels and values more than what came in, for what is put around it.
        let limits = JSON.Limits(depthMax: 20, elementsMax: 1_100)
        guard let said = SocketIOPacket(parsing: packet.payload, json: limits) else {
            preconditionFailure("no packet of Socket.IO")
        }
        if case .refused = said.payload { preconditionFailure("not JSON") }
        return said.attachments
    case .close, .pong, .upgrade, .noop, .bytes:
        preconditionFailure("servers do not say this here")
    }
    return 0
}
