public import Core
import Dialects
import Operations
import Reactors
import RedisLink
import Rights
import Service

/// Relays requests of polling clients to the node that owns their session.
///
/// A request is published on the channel of the node that the session's id names, and the answer returns likewise.
/// Packets that answer a fetch stay unacknowledged until the other node reports that it has handed them to the client.
/// A session whose packets were lost on the way ends, so that its client reconnects and resumes. Thread: the shard's.
public final class Relay {
    /// A relayed request of another node.
    struct RelayedPoll: Hashable {
        let asker: ShardAddress
        let number: Int
    }

    /// A pending request of a client on this node.
    struct Waiter {
        let session: [UInt8]
        let isFetch: Bool
        let answer: PollingTransport.Answer
    }

    /// Finds a polling session of this shard.
    var find: ([UInt8]) -> PollingTransport? = { _ in nil }
    private let context: RelayContext
    private let home: ShardAddress
    private var keys: RelayKeys
    private var seal: NodeSeal
    private var book: PendingRelays<Waiter>
    /// Fetches of other nodes that wait here, and the session of each.
    private var held: [RelayedPoll: [UInt8]] = [:]
    /// Held fetches that were not reported to their nodes yet.
    private var untold: [RelayedPoll] = []
    /// Fetches whose packets were handed to clients in this batch, by the node that receives the receipt.
    private var receipts: [ShardAddress: [Int]] = [:]
    /// Packets sent to another node, until it reports that its client has them.
    private var unacknowledged: [RelayedPoll: (session: [UInt8], dueMs: Int)] = [:]
    private var isDraining = false

    /// Processing time in Redis of a request with answer and receipt, microseconds.
    private static let requestUs = 80
    /// Bytes that add one microsecond to that time.
    private static let bytesPerUs = 1_024

    init(_ context: RelayContext) {
        self.context = context
        home = context.address
        // Until the shared secret is known, no other node accepts the ids made here.
        let secret = SecureRandom.bytes(NodeSeal.secretBytes)
        keys = RelayKeys(secret: secret)
        guard let seal = NodeSeal(.relay, secret: secret, of: home) else {
            preconditionFailure("a secret has its length")
        }
        self.seal = seal
        let (limits, answerMs) = (context.limits, context.limits.pollHopMs)
        book = PendingRelays(
            PendingRelays.Bounds(
                requestsMax: limits.pollHopsMax, bytesMax: limits.pollHopBytesMax, answerMs: answerMs,
                quietMs: answerMs, silentMs: 3 * answerMs))
    }

    /// Takes the secret of all nodes, which is new or has changed.
    func use(_ secret: [UInt8]) {
        guard secret.count == NodeSeal.secretBytes else { return }
        keys = RelayKeys(secret: secret)
        seal.use(secret)
    }

    /// A new session's id.
    func sessionID() -> [UInt8] { keys.sessionID(at: home) }

    /// The other node that owns a session; `nil` for a session of this node, or when no node has made the id.
    public func home(of session: [UInt8]) -> ShardAddress? {
        guard let home = RelayKeys.home(of: session), home.node != self.home.node, keys.isGenuine(session) else {
            return nil
        }
        return home
    }

    // MARK: Requests

    /// Relays a request to the node that owns the session; without a body the client fetches.
    func request(
        _ number: Int, of home: ShardAddress, _ session: [UInt8], _ body: [UInt8]?, at address: IPAddress?,
        _ answer: @escaping PollingTransport.Answer
    ) {
        let waiter = Waiter(session: session, isFetch: body == nil, answer: answer)
        let bytes = body?.count ?? 0
        guard context.link.isReady, context.pay(Relay.requestUs + bytes / Relay.bytesPerUs, at: address),
            book.asked(number, of: home, bytes: bytes, waiter, nowMs: context.clock.nowMs)
        else { return fail(waiter, .busy) }
        context.statistics.relay.add(1)
        let question: RelayMessage =
            body.map { .send(number: number, session: session, body: $0) } ?? .fetch(number: number, session: session)
        publish(question, to: home) { [unowned self] hearers in
            if hearers == 0 { gone(home) } else if hearers == nil { drop(number, .busy) }
        }
        if isDraining { release(number, waiter, at: home) }
    }

    /// The client disconnected before it was answered.
    func abandoned(_ number: Int, of home: ShardAddress, _ session: [UInt8]) {
        guard book.dropped(number) != nil else { return }
        publish(.abandoned(number: number, session: session), to: home)
    }

    /// Answers the fetches that other nodes hold, since this node is draining; their clients then ask another node.
    public func beginDrain() {
        isDraining = true
        for (number, home, waiter) in book.waiting { release(number, waiter, at: home) }
    }

    private func release(_ number: Int, _ waiter: Waiter, at home: ShardAddress) {
        guard waiter.isFetch else { return }
        publish(.release(number: number, session: waiter.session), to: home)
    }

    private func gone(_ home: ShardAddress) {
        for waiter in book.gone(home) { fail(waiter, .fault(.session)) }
    }

    private func drop(_ number: Int, _ answer: PollAnswer) {
        if let waiter = book.dropped(number) { fail(waiter, answer) }
    }

    private func fail(_ waiter: Waiter, _ answer: PollAnswer) {
        context.statistics.relaysFailed.add(1)
        waiter.answer(answer)
    }

    private func answered(_ number: Int, _ answer: RelayMessage.Answer, by home: ShardAddress) {
        guard let waiter = book.answered(number, by: home) else { return }
        if waiter.isFetch, answer.isBacklog { receipts[home, default: []].append(number) }
        waiter.answer(PollAnswer(answer))
    }

    // MARK: Answers

    /// Takes a message of another node.
    func received(_ message: [UInt8]) {
        guard let envelope = NodeEnvelope(message), let poll = seal.open(envelope).flatMap(RelayMessage.init(parsing:))
        else { return context.statistics.relaysRefused.add(1) }
        let from = envelope.from
        book.heard(from, nowMs: context.clock.nowMs)
        switch poll {
        case .fetch(let number, let session): serve(session, nil, for: RelayedPoll(asker: from, number: number))
        case .send(let number, let session, let body):
            serve(session, body, for: RelayedPoll(asker: from, number: number))
        case .release(let number, let session):
            find(session)?.release(RelayedPoll(asker: from, number: number))
        case .abandoned(let number, let session): lost(RelayedPoll(asker: from, number: number), session)
        case .answer(let number, let answer): answered(number, answer, by: from)
        case .held(let numbers): book.held(numbers, by: from, nowMs: context.clock.nowMs)
        case .waits(let numbers):
            for number in numbers { check(RelayedPoll(asker: from, number: number)) }
        case .received(let numbers):
            for number in numbers { delivered(RelayedPoll(asker: from, number: number)) }
        case .asks: publish(.lives, to: from)
        case .lives: break
        }
    }

    private func serve(_ session: [UInt8], _ body: [UInt8]?, for poll: RelayedPoll) {
        context.statistics.relaysTaken.add(1)
        let answer: PollingTransport.Answer = { [unowned self] in give($0, to: poll, session) }
        guard let transport = find(session) else { return answer(.fault(.session)) }
        if let body { return transport.send(body, answer) }
        transport.fetch(for: poll, answer)
        guard transport.holds(poll) else { return }
        held[poll] = session
        untold.append(poll)
    }

    private func give(_ answer: PollAnswer, to poll: RelayedPoll, _ session: [UInt8]) {
        held[poll] = nil
        let word = answer.poll
        if word.isBacklog {
            find(session)?.awaitsReceipt = true
            unacknowledged[poll] = (session, context.clock.nowMs + 2 * context.limits.pollHopMs)
        }
        publish(.answer(number: poll.number, word), to: poll.asker) { [unowned self] hearers in
            if (hearers ?? 0) == 0 { lost(poll, session) }
        }
    }

    private func delivered(_ poll: RelayedPoll) {
        guard let (session, _) = unacknowledged.removeValue(forKey: poll) else { return }
        find(session)?.receiptCame()
    }

    /// Handles another node's question about a fetch: when it is no longer held, its answer was lost, and the session
    /// ends.
    private func check(_ poll: RelayedPoll) {
        guard held[poll] == nil, unacknowledged[poll] == nil else { return }
        publish(.answer(number: poll.number, .fault(EngineRequest.Fault.session.rawValue)), to: poll.asker)
    }

    /// Ends a session whose fetch's answer was lost on the way, unless the session has continued since.
    private func lost(_ poll: RelayedPoll, _ session: [UInt8]) {
        let wasBacklog = unacknowledged.removeValue(forKey: poll) != nil
        guard let transport = find(session), wasBacklog || transport.holds(poll) else { return }
        context.statistics.relaysFailed.add(1)
        transport.close(.peerGone)
    }

    // MARK: Batches and time

    /// Reports to other nodes which packets were handed to clients in this batch.
    func endBatch() {
        guard !receipts.isEmpty else { return }
        let receipts = receipts
        self.receipts = [:]
        for (home, numbers) in receipts { tell(numbers, to: home) { .received($0) } }
    }

    /// Processes everything whose deadline has passed.
    func sweep() {
        let nowMs = context.clock.nowMs
        var news: [ShardAddress: [Int]] = [:]
        for poll in untold where held[poll] != nil { news[poll.asker, default: []].append(poll.number) }
        untold = []
        for (home, numbers) in news { tell(numbers, to: home) { .held($0) } }
        for (poll, debt) in unacknowledged where nowMs >= debt.dueMs { lost(poll, debt.session) }
        for step in book.due(nowMs: nowMs) {
            switch step {
            case .ask(let home):
                publish(.asks, to: home) { [unowned self] hearers in if hearers == 0 { gone(home) } }
            case .check(let home, let numbers): tell(numbers, to: home) { .waits($0) }
            case .expired(let number, let home, let waiter):
                publish(.abandoned(number: number, session: waiter.session), to: home)
                fail(waiter, .busy)
            case .gone(let waiter): fail(waiter, .fault(.session))
            }
        }
        context.statistics.relaysWaiting.set(book.count)
    }

    private func tell(_ numbers: [Int], to home: ShardAddress, _ word: ([Int]) -> RelayMessage) {
        for first in stride(from: 0, to: numbers.count, by: RelayMessage.numbersMax) {
            publish(word(Array(numbers[first...].prefix(RelayMessage.numbersMax))), to: home)
        }
    }

    /// Publishes on the node's channel; reports the number of receivers, `nil` when Redis did not answer.
    private func publish(_ poll: RelayMessage, to home: ShardAddress, _ completion: @escaping (Int?) -> Void = { _ in })
    {
        let message = seal.close(poll.bytes, to: home)
        context.link.call(RedisCall("PUBLISH", context.keys.node(home.node), message)) { result in
            completion((try? result.get())?.integer)
        }
    }
}

extension RelayMessage.Answer {
    /// Whether it holds packets that its session no longer has.
    fileprivate var isBacklog: Bool {
        if case .packets(let packets) = self { packets != [EnginePacket.Kind.noop.rawValue] } else { false }
    }
}

extension PollAnswer {
    /// The answer of a session on another node.
    fileprivate init(_ answer: RelayMessage.Answer) {
        switch answer {
        case .packets(let packets): self = .packets(packets)
        case .taken: self = .taken
        case .tooLarge: self = .tooLarge
        case .busy: self = .busy
        case .fault(let code): self = .fault(EngineRequest.Fault(rawValue: code) ?? .session)
        }
    }

    /// The same answer in the form for another node.
    fileprivate var poll: RelayMessage.Answer {
        switch self {
        case .packets(let packets): .packets(packets)
        case .taken: .taken
        case .tooLarge: .tooLarge
        case .busy: .busy
        case .fault(let fault): .fault(fault.rawValue)
        }
    }
}
