import Core
import Dialects
import HTTPCodec
import Reactors
import RedisLink
import Rights
import Transport
import WebSocketCodec

/// The polling sessions of a shard, and the way to those of the other shards.
///
/// A session's id names its node and shard. A request received by another shard is passed to it, and the answer is
/// passed back: the HTTP connection stays on its shard. Thread: the shard's.
final class PollingServer {
    private unowned let shard: Shard
    /// The relay to the sessions of other nodes.
    let relay: Relay
    private var transports: [[UInt8]: PollingTransport] = [:]
    /// Requests that another shard has to answer.
    private var asked: [Int: (home: Int, answer: PollingTransport.Answer)] = [:]
    /// Shards that have ended and answer no more.
    private var ended: Set<Int> = []
    private var lastNumber = 0
    /// Answers that were kept because the asker's mailbox was full.
    private var late: [(asker: Int, number: Int, answer: PollAnswer)] = []
    /// Transports that are answered together after all events of this turn; `nil` outside a turn.
    private var postponed: [ObjectIdentifier: PollingTransport]?

    init(shard: Shard, link: any RedisCalls) {
        self.shard = shard
        relay = Relay(shard: shard, link: link)
    }

    /// Number of sessions on this shard.
    var count: Int { transports.count }

    // MARK: Sessions

    /// Opens a session; false when the address may hold no more.
    func open(
        _ dialect: SocketIODialect, _ caller: Caller, at address: IPAddress?,
        _ answer: @escaping PollingTransport.Answer
    )
        -> Bool
    {
        guard shard.node.admission.admit(address) else { return false }
        let sid = relay.sessionID()
        let peer = Peer(
            shard.sessionServices, dialect: PolledSocketIO(dialect: dialect, sid: sid, upgrades: true),
            caller: caller)
        let transport = PollingTransport(shard: shard, sid: sid, address: address, peer: peer)
        transports[sid] = transport
        transport.begin(answer)
        return true
    }

    /// The shard of this node that owns a session; `nil` for another node's session, and for a malformed id.
    func home(_ session: [UInt8]) -> Int? {
        guard let home = RelayKeys.home(of: session), home.node.elementsEqual(shard.node.name.utf8),
            home.shard < shard.node.shards.count
        else { return nil }
        return home.shard
    }

    /// A session of this shard.
    func transport(_ session: [UInt8]) -> PollingTransport? { transports[session] }

    /// Passes a WebSocket to the shard of the session that moves to it.
    func send(
        _ connection: MovingConnection, to home: Int, _ session: [UInt8], answer: [UInt8],
        _ deflate: DeflateAgreement?
    ) {
        let upgrade = MovingUpgrade(session: session, connection: connection, answer: answer, deflate: deflate)
        if shard.node.shards[home].send(.upgrade(upgrade)) { shard.statistics.connectionsMoved.add(1) }
    }

    /// Takes a WebSocket from another shard.
    func arrive(_ upgrade: MovingUpgrade) {
        guard let connection = shard.arrive(upgrade.connection, handler: Arrival()) else { return }
        guard let session = mover(upgrade.session), connection.send(upgrade.answer) else {
            let refusal = Refusal(.badRequest, "\(EngineRequest.Fault.session.message)")
            return connection.close(
                .httpRefused, last: HTTPResponse.refusal(refusal, keepAlive: false).encoded(for: .get))
        }
        let transport = WebSocketTransport(
            shard: shard, connection: connection, probing: session, deflate: upgrade.deflate)
        connection.replaceHandler(transport)
        transport.begin()
    }

    /// The session that may move to a WebSocket on this shard; `nil` when there is none of that id.
    func mover(_ session: [UInt8]) -> PollingTransport? {
        transports[session].flatMap { $0.mayMove ? $0 : nil }
    }

    // MARK: Requests

    /// A number for a new request.
    func newNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Passes a request to a session, wherever it lives; without a body it fetches.
    func request(
        _ number: Int, _ session: [UInt8], _ body: [UInt8]?, at address: IPAddress?,
        _ answer: @escaping PollingTransport.Answer
    ) {
        guard let home = home(session) else {
            guard let home = relay.home(of: session) else { return answer(.fault(.session)) }
            return relay.request(number, of: home, session, body, at: address, answer)
        }
        guard home != shard.index else { return serve(session, body, answer) }
        guard !ended.contains(home) else { return answer(.fault(.session)) }
        let request = PollRequest(asker: shard.index, number: number, session: session, body: body)
        guard shard.node.shards[home].send(.poll(request)) else { return answer(.busy) }
        shard.statistics.pollsHandedOver.add(1)
        asked[number] = (home, answer)
    }

    private func serve(_ session: [UInt8], _ body: [UInt8]?, _ answer: @escaping PollingTransport.Answer) {
        guard let transport = transports[session] else { return answer(.fault(.session)) }
        if let body { transport.send(body, answer) } else { transport.fetch(answer) }
    }

    /// Takes a request from another shard.
    func take(_ request: PollRequest) {
        serve(request.session, request.body) { [unowned self] answer in
            handBack(request.asker, request.number, answer)
        }
    }

    /// Takes an answer from another shard.
    func answered(_ number: Int, _ answer: PollAnswer) {
        asked.removeValue(forKey: number)?.answer(answer)
    }

    /// The connection of a fetch ended before its answer: the session ends.
    ///
    /// Its client then reconnects and resumes, instead of continuing without the packets of the answer.
    func abandoned(_ session: [UInt8], _ number: Int? = nil) {
        guard let home = home(session) else {
            guard let number, let home = relay.home(of: session) else { return }
            return relay.abandoned(number, of: home, session)
        }
        guard home != shard.index else { return transports[session]?.close(.peerGone) ?? () }
        _ = shard.node.shards[home].send(.pollAbandoned(session))
    }

    /// Notifies all shards that this one ends, so that none waits for its answers.
    func end() {
        for mailbox in shard.node.shards { _ = mailbox.send(.pollingEnded(shard: shard.index)) }
    }

    /// Another shard has ended, and its sessions with it.
    func ended(_ home: Int) {
        ended.insert(home)
        for (number, request) in asked where request.home == home {
            asked[number] = nil
            request.answer(.fault(.session))
        }
    }

    private func handBack(_ asker: Int, _ number: Int, _ answer: PollAnswer) {
        if !shard.node.shards[asker].send(.polled(number: number, answer)) { late.append((asker, number, answer)) }
    }

    // MARK: Turns and time

    /// Holds answers to fetches back while events are handed out, so that one answer contains all of them.
    func beginTurn() { postponed = postponed ?? [:] }

    /// Answers the fetches that were held back.
    func endTurn() {
        guard let transports = postponed else { return }
        postponed = nil
        for transport in transports.values { transport.flush() }
        relay.endTurn()
    }

    /// Whether a transport has to wait for the end of the turn.
    func postpones(_ transport: PollingTransport) -> Bool {
        guard postponed != nil else { return false }
        postponed?[ObjectIdentifier(transport)] = transport
        return true
    }

    /// Checks every session, and passes back the answers that were kept.
    func sweep() {
        for (sid, transport) in transports where !transport.sweep() { transports[sid] = nil }
        shard.statistics.pollingSessions.set(transports.count)
        let late = late
        self.late = []
        for (asker, number, answer) in late { handBack(asker, number, answer) }
        relay.sweep()
    }
}

/// The dialect of one polling session: its id is known before its dialect machine starts.
struct PolledSocketIO: Dialect {
    let dialect: SocketIODialect
    let sid: [UInt8]
    let upgrades: Bool

    var encoders: [any EventEncoder] { dialect.encoders }

    func converse() -> any DialectMachine { dialect.converse(sid: sid, upgrades: upgrades) }
}

/// A placeholder, until a transport has taken over a connection from another shard.
private final class Arrival: ConnectionHandler {
    func opened(_ connection: Connection) {}
    func received(_ bytes: Span<UInt8>) {}
    func deadlineReached() {}
    func ended(_ reason: CloseReason) {}
}
