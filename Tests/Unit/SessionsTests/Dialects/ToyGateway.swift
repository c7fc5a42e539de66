import Commands
import Connections
import Core
import Dialects
import Reactors
import Rights
import Service
import TestSupport
import Testing
import Traces

@testable import Operations
@testable import Sessions
@testable import Topics

/// As much of a shard as a peer needs: topics whose log is empty, and Redis answers at once.
final class ToyGateway {
    private(set) lazy var services = makeServices()
    let topics: TopicTable<Session>
    private let toy = ToyServices()
    private let access: AccessPolicy
    private let statistics: ShardStatistics
    var nowMs = 1_000
    private var offsets: [Topic: Int] = [:]

    init() throws {
        let reactor = try Reactor(wake: try Wake())
        let context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(Limits(), reactors: 1))
        statistics = ShardStatistics(
            transport: context.statistics, loop: reactor.statistics, namespaces: [], timed: TimedPublishes())
        access = try AccessPolicy(StandardTables.namespaces)
        topics = TopicTable(
            limits: Limits(), store: EmptyReader(), channels: toy, statistics: statistics,
            trace: SessionTrace(bytesMax: 0, nowMs: { 0 }), nowMs: { 1_000 })
    }

    private func makeServices() -> SessionServices {
        SessionServices(
            address: ShardAddress(node: Array("n".utf8), shard: 0),
            clock: ShardClock(monotonicMs: { [unowned self] in nowMs }, wallMs: { [unowned self] in nowMs }),
            rules: SessionRules(limits: Limits(), access: access, budget: toy), topics: topics,
            encodings: EncodingTable(
                written: statistics.encodings,
                deflation: Deflation(bytesMin: 1 << 20, bytesMax: 1 << 20, statistics: statistics)),
            log: toy, presence: toy, commands: toy, callers: toy, reports: toy,
            trace: SessionTrace(bytesMax: 0, nowMs: { 0 }))
    }

    /// How many times an event was written.
    var encodingsMade: Int { statistics.encodings.value }

    /// An event comes on the channel, and is handed over at the end of the tick.
    func event(_ topic: Topic, _ name: String) throws {
        try receive(topic, name)
        topics.endBatch()
    }

    /// An event comes on the channel.
    func receive(_ topic: Topic, _ name: String) throws {
        let offset = offsets[topic, default: 0] + 1
        offsets[topic] = offset
        let event = try #require(EventName(name))
        let position = Position(epoch: [UInt8(ascii: "e")], offset: offset)
        topics.received(topic, ChannelMessage(position: position, event: event, id: nil, data: Array("{}".utf8)))
    }
}

/// Only a session with a token has to show a good one, and every channel may be had.
private final class ToyServices: QuietServices, ChannelInterest {
    func want(_ topic: Topic) -> Bool { false }
    func unwant(_ topic: Topic) {}
    func admit(_ caller: Caller, showing token: [UInt8]?, at address: IPAddress?) -> Result<Caller, Refusal> {
        token.map { $0.elementsEqual("good".utf8) } ?? true
            ? .success(caller) : .failure(Refusal(.unauthorized, "a wrong token"))
    }
}

/// Every topic's log is empty.
private final class EmptyReader: TopicReader {
    func read(_ topic: Topic, _ order: LogRead.Order, since: Position?, _ completion: @escaping LogRead.Completion) {
        guard let position = Position(epoch: [UInt8(ascii: "e")], offset: 0) else { return }
        completion(.success(LogRead.Answer(position: position, events: [], state: nil)))
    }
}

/// A line that keeps what it is given, in the framing of a WebSocket.
final class ToyLine: ClientTransport {
    let address: IPAddress? = nil
    let framing = Framing.webSocket
    let load = QueueLoad()
    let peer: Peer?
    private(set) var said: [String] = []
    private(set) var closed: CloseReason?

    init(_ gateway: ToyGateway, _ dialect: any Dialect) {
        let peer = Peer(gateway.services, dialect: dialect, caller: .anonymous)
        self.peer = peer
        peer.begin(on: self)
    }

    /// The client says something; false when no session paid for it.
    @discardableResult
    func client(_ text: String) -> Bool { peer?.received(Array(text.utf8), as: .text) ?? false }

    /// What was said since the last time.
    func take() -> [String] {
        defer { said = [] }
        return said
    }

    func send(_ unit: WireUnit) { said.append(String(decoding: unit.bytes, as: UTF8.self)) }

    func send(_ delivery: Delivery, _ encoding: Encoding, own: EventDecoration?, isBacklog: Bool) -> Bool {
        delivery.counts.countUndeliverable()
        let frame = delivery.frame(encoding)
        // The header of a short frame has two bytes.
        if !frame.isEmpty { said.append(String(decoding: frame.dropFirst(2), as: UTF8.self)) }
        return true
    }

    func close(_ reason: CloseReason) { closed = closed ?? reason }
    func established() {}
    func deadlineChanged() {}
}
