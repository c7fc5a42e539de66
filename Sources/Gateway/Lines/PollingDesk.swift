import Core
import Dialects
import HTTPCodec
import Reactors
import RedisLink
import Rights
import Transport
import WebSocketCodec

/// The sessions of a shard whose clients poll, and the way to those of the other shards.
///
/// A session's id names its node and shard, so a request that comes to another shard is handed over, and its answer handed
/// back: the HTTP connection stays where it is. Thread: the shard's.
final class PollingDesk {
    private unowned let shard: Shard
    /// The way to the sessions of other nodes.
    let hops: HopDesk
    private var lines: [[UInt8]: PollingLine] = [:]
    /// Requests that another shard is to answer.
    private var asked: [Int: (home: Int, answer: PollingLine.Answer)] = [:]
    /// Shards that have ended, and answer nothing any more.
    private var ended: Set<Int> = []
    private var lastNumber = 0
    /// Answers that found the mailbox of their asker full.
    private var late: [(asker: Int, number: Int, answer: PollAnswer)] = []
    /// Lines that are answered together when all events of this turn are handed out.
    private var postponed: [ObjectIdentifier: PollingLine]?

    init(shard: Shard, link: any RedisCalls) {
        self.shard = shard
        hops = HopDesk(shard: shard, link: link)
    }

    /// Sessions that live here.
    var count: Int { lines.count }

    // MARK: Sessions

    /// Begins a session; false when the address may hold no more.
    func open(
        _ dialect: SocketIODialect, _ caller: Caller, at address: IPAddress?, _ answer: @escaping PollingLine.Answer
    )
        -> Bool
    {
        guard shard.node.admission.admit(address) else { return false }
        let sid = hops.sessionID()
        let peer = Peer(
            host: shard, dialect: PolledSocketIO(dialect: dialect, sid: sid, upgrades: true), caller: caller)
        let line = PollingLine(shard: shard, sid: sid, address: address, peer: peer)
        lines[sid] = line
        line.begin(answer)
        return true
    }

    /// The shard of this node that a session lives on; `nil` for another node's, and for what is no session.
    func home(_ session: [UInt8]) -> Int? {
        guard let home = HopKeys.home(of: session), home.node.elementsEqual(shard.node.name.utf8),
            home.shard < shard.node.shards.count
        else { return nil }
        return home.shard
    }

    /// A session that lives here.
    func line(_ session: [UInt8]) -> PollingLine? { lines[session] }

    /// Hands a WebSocket over to the shard of the session that is to move there.
    func send(
        _ connection: MovingConnection, to home: Int, _ session: [UInt8], answer: [UInt8],
        _ deflate: DeflateAgreement?
    ) {
        let upgrade = MovingUpgrade(session: session, connection: connection, answer: answer, deflate: deflate)
        if shard.node.shards[home].send(.upgrade(upgrade)) { shard.statistics.connectionsMoved.add(1) }
    }

    /// Another shard hands a WebSocket over.
    func arrive(_ upgrade: MovingUpgrade) {
        guard let connection = shard.arrive(upgrade.connection, handler: Arrival()) else { return }
        guard let session = mover(upgrade.session), connection.send(upgrade.answer) else {
            let refusal = Refusal(.badRequest, "\(EngineRequest.Fault.session.message)")
            return connection.close(
                .httpRefused, last: HTTPResponse.refusal(refusal, keepAlive: false).encoded(for: .get))
        }
        let line = WebSocketLine(shard: shard, connection: connection, probing: session, deflate: upgrade.deflate)
        connection.replaceHandler(line)
        line.begin()
    }

    /// The session that may move to a WebSocket on this shard; `nil` when there is none of that name.
    func mover(_ session: [UInt8]) -> PollingLine? {
        lines[session].flatMap { $0.mayMove ? $0 : nil }
    }

    // MARK: Requests

    /// A number for a request that is to come.
    func newNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Lets a session take a request, wherever it lives; without a body it fetches.
    func request(
        _ number: Int, _ session: [UInt8], _ body: [UInt8]?, at address: IPAddress?,
        _ answer: @escaping PollingLine.Answer
    ) {
        guard let home = home(session) else {
            guard let home = hops.home(of: session) else { return answer(.fault(.session)) }
            return hops.request(number, of: home, session, body, at: address, answer)
        }
        guard home != shard.index else { return serve(session, body, answer) }
        guard !ended.contains(home) else { return answer(.fault(.session)) }
        let request = PollRequest(asker: shard.index, number: number, session: session, body: body)
        guard shard.node.shards[home].send(.poll(request)) else { return answer(.busy) }
        shard.statistics.pollsHandedOver.add(1)
        asked[number] = (home, answer)
    }

    private func serve(_ session: [UInt8], _ body: [UInt8]?, _ answer: @escaping PollingLine.Answer) {
        guard let line = lines[session] else { return answer(.fault(.session)) }
        if let body { line.send(body, answer) } else { line.fetch(answer) }
    }

    /// Another shard hands a request over.
    func take(_ request: PollRequest) {
        serve(request.session, request.body) { [unowned self] answer in
            handBack(request.asker, request.number, answer)
        }
    }

    /// Another shard has answered.
    func answered(_ number: Int, _ answer: PollAnswer) {
        asked.removeValue(forKey: number)?.answer(answer)
    }

    /// The connection of a fetch ended before its answer, which nobody will ever have: the session ends, so that its client
    /// comes back and resumes, instead of going on without what the answer held.
    func abandoned(_ session: [UInt8], _ number: Int? = nil) {
        guard let home = home(session) else {
            guard let number, let home = hops.home(of: session) else { return }
            return hops.abandoned(number, of: home, session)
        }
        guard home != shard.index else { return lines[session]?.close(.peerGone) ?? () }
        _ = shard.node.shards[home].send(.pollAbandoned(session))
    }

    /// This shard ends: nobody is to wait for its answers.
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

    /// Holds answers to fetches back while events are handed out, so that one answer has all of them.
    func beginTurn() { postponed = postponed ?? [:] }

    /// Answers the fetches that were held back.
    func endTurn() {
        guard let lines = postponed else { return }
        postponed = nil
        for line in lines.values { line.flush() }
        hops.endTurn()
    }

    /// Whether a line is to wait for the end of the turn.
    func postpones(_ line: PollingLine) -> Bool {
        guard postponed != nil else { return false }
        postponed?[ObjectIdentifier(line)] = line
        return true
    }

    /// Looks at every session, and hands back what could not be before.
    func sweep() {
        for (sid, line) in lines where !line.sweep() { lines[sid] = nil }
        shard.statistics.pollingSessions.set(lines.count)
        let late = late
        self.late = []
        for (asker, number, answer) in late { handBack(asker, number, answer) }
        hops.sweep()
    }
}

/// The dialect for one session that polls: its id is known before its conversation begins.
struct PolledSocketIO: Dialect {
    let dialect: SocketIODialect
    let sid: [UInt8]
    let upgrades: Bool

    var encoders: [any EventEncoder] { dialect.encoders }

    func converse() -> any Conversation { dialect.converse(sid: sid, upgrades: upgrades) }
}

/// Nobody in particular, until a line has taken over a connection that came from another shard.
private final class Arrival: ConnectionHandler {
    func opened(_ connection: Connection) {}
    func received(_ bytes: Span<UInt8>) {}
    func deadlineReached() {}
    func ended(_ reason: CloseReason) {}
}
