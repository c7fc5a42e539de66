import Connections
import Core
import Dialects
import HTTPCodec
import Operations
import Reactors
import Rights
import Service
import Topics
import Transports
import WebSocketCodec

/// The requests that open a WebSocket or an event stream: the connection gets another handler.
extension HTTPPeer {
    func openWebSocket(_ asked: AskedRequest, _ upgrade: HTTPUpgrade, rest bytes: Span<UInt8>, from: Int) {
        guard let connection else { return }
        let head = asked.head
        guard case .front = role else {
            return refuse(.refusal(Refusal(.notFound, "there is no WebSocket here"), keepAlive: false), method: .get)
        }
        guard let opening = admit(asked, { server.router.opener.openWebSocket(head, $0) }) else { return }
        let subprotocol = opening.dialect?.subprotocol.flatMap { name in
            upgrade.protocols.contains { $0.elementsEqual(name.utf8) } ? HTTPHeaderValue(name) : nil
        }
        let accept = Base64.encode(Digest.sha1(WebSocketHandshake.acceptInput(key: upgrade.key)), .standard)
        let offered = context.options.deflates ? head.headers.values(of: "sec-websocket-extensions") : []
        let deflate = DeflateAgreement(offered: offered)
        guard let value = HTTPHeaderValue(accept) else { return connection.abort(.internalError) }
        let answer = HTTPResponse.switchingProtocols(
            accept: value, subprotocol: subprotocol, extensions: deflate.flatMap { HTTPHeaderValue($0.answer) }
        )
        .encoded(for: .get)
        if case .moveElsewhere(let home, let session) = opening {
            return move(connection, to: home, session, answer: answer, deflate, hasRest: from < bytes.count)
        }
        guard connection.send(answer) else { return connection.abort(.internalError) }
        note(status: 101, by: opening.caller, at: AnsweredRoutes.Other.webSocket.rawValue)
        let transport: WebSocketTransport
        switch opening {
        case .echo:
            transport = WebSocketTransport(echo: server.transports, connection: connection, deflate: deflate)
        case .machine(let dialect, let caller):
            let peer = server.transports.peer(dialect, caller)
            transport = WebSocketTransport(server.transports, connection: connection, peer: peer, deflate: deflate)
        case .move(let session):
            transport = WebSocketTransport(
                server.transports, connection: connection, probing: session, deflate: deflate)
        case .moveElsewhere:
            return
        }
        hand(connection, to: transport)
        transport.begin()
        if from < bytes.count { transport.received(bytes.extracting(from..<bytes.count)) }
    }

    /// Passes the connection to the shard of its session, which answers the upgrade.
    private func move(
        _ connection: Connection, to home: Int, _ session: [UInt8], answer: [UInt8], _ deflate: DeflateAgreement?,
        hasRest: Bool
    ) {
        // A client that sends before the answer, or does not read, breaks the protocol.
        guard !hasRest, let moving = connection.depart() else {
            let refusal = Refusal(.badRequest, "\(EngineRequest.Fault.request.message)")
            return refuse(.refusal(refusal, keepAlive: false), method: .get)
        }
        self.connection = nil
        server.ended(self)
        server.polling.send(moving, to: home, session, answer: answer, deflate)
    }

    func openStream(_ asked: AskedRequest, _ entry: DialectRegistry.Entry, rest: Int) {
        guard let connection else { return }
        let head = asked.head
        context.statistics.requests.add(1)
        if let refusal = context.refusalOfRate(asked.origin.address) {
            return refuse(.refusal(refusal, keepAlive: false), method: head.method)
        }
        guard let opening = admit(asked, { server.router.opener.open(entry, head, $0) }) else { return }
        let more = [isSecure ? context.options.strictTransport : nil].compactMap(\.self)
        guard case .machine(let dialect, let caller) = opening,
            connection.send(HTTPResponse.eventStream(crossOrigin + more))
        else { return connection.abort(.internalError) }
        note(status: 200, by: caller, at: AnsweredRoutes.Other.eventStream.rawValue)
        let peer = server.transports.peer(dialect, caller)
        let transport = EventStreamTransport(server.transports, connection: connection, peer: peer)
        hand(connection, to: transport)
        transport.begin()
        if rest > 0 { transport.close(.badRequest) }
    }

    /// Opens the request's session when one more client is admitted; `nil` when the request was refused.
    private func admit(
        _ asked: AskedRequest, _ open: (ClientAddress) -> Result<SessionOpener.Opening, SessionOpener.RefusedEntry>
    ) -> SessionOpener.Opening? {
        guard let connection else { return nil }
        guard !context.memory.isShort else {
            let refusal = Refusal(.unavailable, "this node takes no more clients now", retryAfterMs: 1_000)
            refuse(.refusal(refusal, keepAlive: false), method: .get, reason: .connectionLimit)
            return nil
        }
        guard connection.attribute(to: asked.origin.address) else {
            let refusal = Refusal(.rateLimited, "too many connections from this address", retryAfterMs: 1_000)
            refuse(.refusal(refusal, keepAlive: false), method: .get, reason: .connectionLimit)
            return nil
        }
        switch open(asked.origin) {
        case .failure(let refused):
            refuse(refused.response, method: .get)
            return nil
        case .success(let opening):
            return opening
        }
    }

    /// Passes the connection to a transport.
    private func hand(_ connection: Connection, to transport: any ConnectionTransport) {
        self.connection = nil
        server.ended(self)
        connection.replaceHandler(transport)
    }
}
