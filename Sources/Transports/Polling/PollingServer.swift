public import Connections
public import Core
public import Dialects
import HTTPCodec
import Operations
import Reactors
import RedisLink
public import Rights
public import WebSocketCodec

/// The polling sessions of a shard, and the way to those of the other shards.
///
/// A session's id names its node and shard. A request received by another shard is passed to it, and the answer is
/// passed back: the HTTP connection stays on its shard. Thread: the shard's.
public final class PollingServer {
    /// The parts of the node beside a polling server.
    public struct Neighbours {
        /// This shard's address.
        public let address: ShardAddress
        /// Counts clients, which keep no connection open, among those of their address.
        public let places: any Admission
        /// Sends a message to a shard of this node; false when its mailbox is full.
        public let send: (PollingMessage, _ shard: Int) -> Bool
        /// Takes over a connection from another shard; `nil` when there is no room for it.
        public let adopt: (MovingConnection, any ConnectionHandler) -> Connection?

        /// The neighbours of one shard; both closures are called on its thread.
        public init(
            address: ShardAddress, places: any Admission, send: @escaping (PollingMessage, _ shard: Int) -> Bool,
            adopt: @escaping (MovingConnection, any ConnectionHandler) -> Connection?
        ) {
            self.address = address
            self.places = places
            self.send = send
            self.adopt = adopt
        }
    }

    private let context: TransportContext
    private let neighbours: Neighbours
    /// The relay to the sessions of other nodes.
    public let relay: Relay
    private let batch = FetchBatch()
    private var transports: [[UInt8]: PollingTransport] = [:]
    /// Requests that another shard has to answer.
    private var asked: [Int: (home: Int, answer: PollingTransport.Answer)] = [:]
    /// Shards that have ended and answer no more.
    private var ended: Set<Int> = []
    private var lastNumber = 0
    /// Answers that were kept because the asker's mailbox was full.
    private var late: [(asker: Int, number: Int, answer: PollAnswer)] = []

    /// A server without sessions, with a relay of its own.
    public init(_ context: TransportContext, _ neighbours: Neighbours, relay: RelayContext) {
        self.context = context
        self.neighbours = neighbours
        self.relay = Relay(relay)
        self.relay.find = { [unowned self] in transports[$0] }
    }

    /// This shard's number.
    public var index: Int { neighbours.address.shard }

    /// Number of sessions on this shard.
    var count: Int { transports.count }

    // MARK: Sessions

    /// Opens a session; false when the address may hold no more.
    public func open(
        _ dialect: SocketIODialect, _ caller: Caller, at address: IPAddress?,
        _ answer: @escaping PollingTransport.Answer
    )
        -> Bool
    {
        guard neighbours.places.admit(address) else { return false }
        let sid = relay.sessionID()
        let peer = context.peer(PolledSocketIO(dialect: dialect, sid: sid, upgrades: true), caller)
        let transport = PollingTransport(context, neighbours.places, batch, sid: sid, address: address, peer: peer)
        transports[sid] = transport
        transport.begin(answer)
        return true
    }

    /// The shard of this node that owns a session; `nil` for another node's session, and for a malformed id.
    public func home(_ session: [UInt8]) -> Int? {
        guard let home = RelayKeys.home(of: session), home.node == neighbours.address.node,
            home.shard < context.shardCount
        else { return nil }
        return home.shard
    }

    /// Passes a WebSocket to the shard of the session that moves to it.
    public func send(
        _ connection: MovingConnection, to home: Int, _ session: [UInt8], answer: [UInt8],
        _ deflate: DeflateAgreement?
    ) {
        let upgrade = MovingUpgrade(session: session, connection: connection, answer: answer, deflate: deflate)
        if neighbours.send(.upgrade(upgrade), home) { context.statistics.connectionsMoved.add(1) }
    }

    /// Takes a WebSocket from another shard.
    private func arrive(_ upgrade: MovingUpgrade) {
        guard let connection = neighbours.adopt(upgrade.connection, Arrival()) else { return }
        guard let session = mover(upgrade.session), connection.send(upgrade.answer) else {
            let refusal = Refusal(.badRequest, "\(EngineRequest.Fault.session.message)")
            return connection.close(
                .httpRefused, last: HTTPResponse.refusal(refusal, keepAlive: false).encoded(for: .get))
        }
        let transport = WebSocketTransport(
            context, connection: connection, probing: session, deflate: upgrade.deflate)
        connection.replaceHandler(transport)
        transport.begin()
    }

    /// The session that may move to a WebSocket on this shard; `nil` when there is none of that id.
    public func mover(_ session: [UInt8]) -> PollingTransport? {
        transports[session].flatMap { $0.mayMove ? $0 : nil }
    }

    /// Takes a message of another shard or node.
    public func take(_ message: PollingMessage) {
        switch message {
        case .request(let request): serve(request)
        case .answer(let number, let answer): answered(number, answer)
        case .abandoned(let session): abandoned(session)
        case .upgrade(let upgrade): arrive(upgrade)
        case .ended(let shard): ended(shard)
        case .relay(let message): relay.received(message)
        case .secret(let secret): relay.use(secret)
        }
    }

    // MARK: Requests

    /// A number for a new request.
    public func newNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Passes a request to a session, wherever it lives; without a body it fetches.
    public func request(
        _ number: Int, _ session: [UInt8], _ body: [UInt8]?, at address: IPAddress?,
        _ answer: @escaping PollingTransport.Answer
    ) {
        guard let home = home(session) else {
            guard let home = relay.home(of: session) else { return answer(.fault(.session)) }
            return relay.request(number, of: home, session, body, at: address, answer)
        }
        guard home != index else { return serve(session, body, answer) }
        guard !ended.contains(home) else { return answer(.fault(.session)) }
        let request = PollRequest(asker: index, number: number, session: session, body: body)
        guard neighbours.send(.request(request), home) else { return answer(.busy) }
        context.statistics.pollsHandedOver.add(1)
        asked[number] = (home, answer)
    }

    private func serve(_ session: [UInt8], _ body: [UInt8]?, _ answer: @escaping PollingTransport.Answer) {
        guard let transport = transports[session] else { return answer(.fault(.session)) }
        if let body { transport.send(body, answer) } else { transport.fetch(answer) }
    }

    /// Takes a request from another shard.
    private func serve(_ request: PollRequest) {
        serve(request.session, request.body) { [unowned self] answer in
            handBack(request.asker, request.number, answer)
        }
    }

    /// Takes an answer from another shard.
    private func answered(_ number: Int, _ answer: PollAnswer) {
        asked.removeValue(forKey: number)?.answer(answer)
    }

    /// The connection of a fetch ended before its answer: the session ends.
    ///
    /// Its client then reconnects and resumes, instead of continuing without the packets of the answer.
    public func abandoned(_ session: [UInt8], _ number: Int? = nil) {
        guard let home = home(session) else {
            guard let number, let home = relay.home(of: session) else { return }
            return relay.abandoned(number, of: home, session)
        }
        guard home != index else { return transports[session]?.close(.peerGone) ?? () }
        _ = neighbours.send(.abandoned(session), home)
    }

    /// Notifies all shards that this one ends, so that none waits for its answers.
    public func end() {
        for shard in 0..<context.shardCount { _ = neighbours.send(.ended(shard: index), shard) }
    }

    /// Another shard has ended, and its sessions with it.
    private func ended(_ home: Int) {
        ended.insert(home)
        for (number, request) in asked where request.home == home {
            asked[number] = nil
            request.answer(.fault(.session))
        }
    }

    private func handBack(_ asker: Int, _ number: Int, _ answer: PollAnswer) {
        if !neighbours.send(.answer(number: number, answer), asker) { late.append((asker, number, answer)) }
    }

    // MARK: Batches and time

    /// Holds answers to fetches back while events are handed out, so that one answer contains all of them.
    public func beginBatch() { batch.begin() }

    /// Answers the fetches that were held back.
    public func endBatch() {
        batch.end()
        relay.endBatch()
    }

    /// Checks every session, and passes back the answers that were kept.
    public func sweep() {
        for (sid, transport) in transports where !transport.sweep() { transports[sid] = nil }
        context.statistics.pollingSessions.set(transports.count)
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
