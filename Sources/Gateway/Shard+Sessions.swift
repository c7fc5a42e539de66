import Commands
import Configuration
import Core
import Dialects
import Reactors
import Rights
import Service
import Transport

/// The services that peers and their sessions need of their shard.
extension Shard: PeerHost {
    func verify(_ token: [UInt8]) -> Result<Identity, TokenFailure> {
        node.gate.verify(token, now: wallSeconds)
    }

    /// A connection may be older than a change of its credentials, so these are checked again.
    func admit(
        _ caller: Caller, showing token: [UInt8]?, at address: IPAddress?
    ) -> Result<Caller, Refusal> {
        let judged: Result<Caller, TokenFailure>
        if let token {
            judged = verify(token).map { .user($0) }
        } else if !node.gate.authenticator.stillKnows(caller) {
            judged = .failure(.replaced)
        } else if case .user(let identity) = caller, identity.expiresAt + limits.tokenLeewaySeconds <= wallSeconds {
            judged = .failure(.expired)
        } else {
            return node.gate.unlessRevoked(caller).flatMap(node.gate.unlessAnonymous)
        }
        return judged.mapError { failure in
            statistics.authenticationFailures.add(1)
            node.clientLog.write(.credentials, nowMs: nowMs) {
                [("reason", failure.rawValue)] + ClientLog.fields(nil, at: address)
            }
            return failure.refusal
        }.flatMap(node.gate.unlessAnonymous)
    }

    /// Logs a script's fault for its author, by the lines of its file.
    func scriptFailed(_ name: String, _ text: String) {
        statistics.commandFaults.add(1)
        let fault = node.library.table[name]?.source.translate(text) ?? text
        log(.error, "a script failed", [("script", name), ("fault", String(fault.prefix(500)))])
    }

    func isMember(_ topic: Topic, user: [UInt8], _ completion: @escaping (Result<Bool, Refusal>) -> Void) {
        store.isMember(topic, user: user, completion)
    }

    func follows(_ topic: Topic, _ completion: @escaping (Result<[Topic], Refusal>) -> Void) {
        store.follows(topic, completion)
    }

    func replay(
        _ topic: Topic, _ wanted: ReplayRequest, asker: ReadCaller,
        _ completion: @escaping (Result<Replay, Refusal>) -> Void
    ) {
        store.replay(topic, wanted, asker: asker, completion)
    }

    func publish(
        _ request: PublishRequest, id: PublishID?, origin: EchoExclusion?, payer: Payer,
        _ completion: @escaping (Result<Position, Refusal>) -> Void
    ) {
        let (topic, event) = (request.topic, request.event)
        store.publish(topic, event, request.data, id, origin: origin, payer: payer) { [statistics] result in
            if case .success = result { statistics.webSocketPublishes.add(1) }
            completion(result.map(\.position))
        }
    }

    func watchPresence(_ session: Session, _ topic: Topic) {
        presence.watch(session, topic, payer: session.payer)
    }

    func track(
        _ session: Session, _ request: TrackRequest, user: [UInt8]?,
        _ completion: @escaping (Result<PresenceID, Refusal>) -> Void
    ) {
        presence.track(session, request, user: user, payer: session.payer, completion)
    }

    func untrack(
        _ session: Session, _ topic: Topic, _ completion: @escaping (Result<PresenceID, Refusal>) -> Void
    ) {
        presence.untrack(session, topic, completion)
    }

    func leftPresence(_ session: Session, _ topic: Topic) { presence.left(session, topic) }

    func payer(_ caller: Caller, at address: IPAddress?) -> Payer { node.rates.payer(caller, at: address) }

    func run(
        _ name: String, _ arguments: CommandArguments, operation: OperationID?, scope: [UInt8], lane: UInt64,
        caller: Caller, payer: Payer?,
        _ completion: @escaping (Result<[UInt8], Refusal>) -> Void
    ) {
        var request = CommandService.Request(body: arguments.object, operation: operation, scope: scope, lane: lane)
        request.payer = payer
        request.known = arguments.known
        commands.perform(name, request, caller: caller) { result in
            completion(result.map(\.json))
        }
    }

    func newLane() -> UInt64 { store.newLane() }

    func came(_ user: [UInt8]) { commands.came(user) }

    func left(_ user: [UInt8]) { commands.left(user) }

    func count(_ figure: SessionFigure) {
        switch figure {
        case .rateLimited: statistics.rateLimited.add(1)
        case .rateWarned: statistics.rateWarnings.add(1)
        case .authenticationFailed: statistics.authenticationFailures.add(1)
        }
    }

    /// Writes a log line.
    func log(_ level: LogLevel, _ message: String, _ fields: [(String, String)]) {
        node.log.write(level, message, fields)
    }

    func log(_ trouble: SessionTrouble, of session: Session) {
        switch trouble {
        case .refused(let message, let failure):
            node.clientLog.write(.credentials, message, nowMs: nowMs) {
                [("reason", failure.rawValue)] + ClientLog.fields(session.caller, at: session.address)
                    + ClientLog.fields(session.topicsHeld)
            }
        case .failed(let code, let message, let topic): log(.failed, code, message, topic, session)
        case .limited(let message, let topic):
            log(.limited, ErrorCode.rateLimited.rawValue, message, topic, session)
        }
    }

    private func log(
        _ trouble: ClientTrouble, _ code: String, _ message: String, _ topic: Topic?, _ session: Session
    ) {
        node.clientLog.write(trouble, nowMs: nowMs) {
            [("reason", code), ("error", message)] + ClientLog.fields(session.caller, at: session.address)
                + ClientLog.fields(topic.map { [$0] } ?? [])
        }
    }

    /// Logs the end of a client when it is not the usual one.
    func logEnd(_ reason: CloseReason, of peer: Peer?, at address: IPAddress?, bytesUnsent: Int) {
        guard let trouble = ClientTrouble(ending: reason) else { return }
        node.clientLog.write(trouble, nowMs: nowMs) {
            [("reason", reason.rawValue)] + ClientLog.fields(peer?.knownCaller, at: address)
                + ClientLog.fields(peer?.sessions.flatMap(\.topicsHeld) ?? []) + [("bytes", "\(bytesUnsent)")]
        }
    }

    /// Logs the end of a connection in the access log.
    func writeAccess(
        _ connection: Connection, _ transport: ClientAccess.Transport, _ reason: CloseReason, by caller: Caller?
    ) {
        guard let access = node.accessLog, connection.number > 0 else { return }
        let tally = ClientAccess.Tally(
            number: connection.number, lastedMs: nowMs - connection.openedMs, bytesIn: connection.bytesIn,
            bytesOut: connection.bytesOut)
        access.ended(tally, transport, reason, by: caller, at: connection.address)
    }

    /// Charges an operation of a session to its caller's budget.
    ///
    /// `nil` when it was charged, else the milliseconds until it could be.
    static func charge(_ cost: SessionCost, _ caller: Caller, _ node: Node, nowMs: Int) -> Int? {
        switch cost {
        case .publish:
            // An anonymous caller has no rate of its own; the limit on its connection's messages bounds it.
            guard case .user(let identity) = caller, !caller.isService else { return nil }
            return node.rates.waitForUserAction(identity.user, nowMs: nowMs)
        case .joins, .readFollows:
            return nil
        }
    }
}
