public import Core

/// Connection state recovery: a client of a namespace recovers its former topics in full, or starts anew.
extension SocketIOMachine {
    /// Whether some client can recover: its events end with the positions of its topics.
    public var isDecorating: Bool { memberships.values.contains { $0.recovery != nil } }

    /// The event with the list of positions as its last argument: a client stores that argument when it is a string.
    public mutating func decorate(
        _ topic: Topic, _ position: Position, at sessionID: SessionID, _ units: () -> [WireUnit]
    ) -> EventDecoration? {
        guard let number = number(of: sessionID), memberships[number]?.recovery != nil else { return nil }
        memberships[number]?.recovery?.places.set(topic, position)
        var units = units()
        guard let packet = units.first, let places = memberships[number]?.recovery?.places.text else { return nil }
        units[0] = WireUnit(packet.kind, packet.bytes.dropLast() + Array(",\"".utf8) + places + Array("\"]".utf8))
        return .instead(units)
    }

    /// Asks for the former topics of a client that recovers, or admits it as a new one.
    mutating func recover(_ number: Int, _ user: [UInt8]?, _ steps: inout [DialectStep]) {
        guard var recovery = memberships[number]?.recovery, let sessionID = memberships[number]?.sessionID else {
            return
        }
        let namespace = dialect.names[number]
        if let shown = recovery.shown, let places = SocketIOPlaces(shown.offset),
            let sid = SocketIORecovery.sid(of: shown.pid, namespace: namespace, user: user, dialect.prove)
        {
            recovery.sid = sid
            recovery.pid = shown.pid
            recovery.places = places
            recovery.waiting = Set(places.topics)
            // The topics of the namespace's rules are among these positions, or the client has left them.
            memberships[number]?.requests.cameBack(by: user)
        } else {
            recovery.sid = dialect.makeID()
            recovery.pid = SocketIORecovery.pid(recovery.sid, namespace: namespace, user: user, dialect.prove)
            recovery.token = nil
        }
        recovery.shown = nil
        memberships[number]?.recovery = recovery
        guard !recovery.waiting.isEmpty else { return enter(number, sid: recovery.sid, pid: recovery.pid, &steps) }
        let command = ClientCommand.subscribe(recovery.places.requests)
        steps.append(.request(sessionID, .success(ClientRequest(command: command, ref: nil))))
    }

    /// Records that one more topic was recovered in full, or that the recovery failed.
    mutating func recovering(_ message: ServerMessage, _ number: Int, _ steps: inout [DialectStep]) {
        guard let recovery = memberships[number]?.recovery, !recovery.hasFailed else { return }
        switch message {
        case .subscribed(let topic, _, recovered: true, _):
            memberships[number]?.recovery?.waiting.remove(topic)
            guard memberships[number]?.recovery?.waiting.isEmpty == true else { return }
            memberships[number]?.recovery?.token = nil
            enter(number, sid: recovery.sid, pid: recovery.pid, &steps)
        case .subscribed, .gap, .error, .unsubscribed:
            // Never in part: the client would take an incomplete recovery for a complete one. The topics are left
            // later, not while they serve their members.
            memberships[number]?.recovery?.hasFailed = true
        default: return
        }
    }

    /// Restarts the clients whose recovery failed.
    mutating func beginAnew(_ steps: inout [DialectStep]) {
        for (number, membership) in memberships where membership.recovery?.hasFailed == true {
            steps.append(.end(membership.sessionID))
            let token = membership.recovery?.token
            open(number, token: token, positions: membership.positions, SocketIORecovery(), &steps)
        }
    }

    /// Whether a client waits to be restarted.
    var hasFailedRecovery: Bool { memberships.values.contains { $0.recovery?.hasFailed == true } }

    /// Admits the client to a namespace.
    mutating func enter(
        _ number: Int, sid: [UInt8], pid: [UInt8] = [], _ steps: inout [DialectStep]
    ) {
        memberships[number]?.isOpen = true
        connectDeadlineMs = Int.max
        steps.append(.say(WireUnit(.text, SocketIOText.connected(dialect.names[number], sid: sid, pid: pid))))
        if !pid.isEmpty { tellPlaces(number, &steps) }
        guard let membership = memberships[number] else { return }
        for request in memberships[number]?.requests.opened(by: membership.user, at: dialect.sockets[number]) ?? [] {
            steps.append(.request(membership.sessionID, .success(request)))
        }
    }

    /// Sends the positions of the topics in an event that carries nothing else.
    func tellPlaces(_ number: Int, _ steps: inout [DialectStep]) {
        guard let recovery = memberships[number]?.recovery, !recovery.pid.isEmpty else { return }
        let argument = Array("\"".utf8) + recovery.places.text + Array("\"".utf8)
        steps += SocketIOText.event(dialect.names[number], "offset", argument).map { .say($0) }
    }
}
