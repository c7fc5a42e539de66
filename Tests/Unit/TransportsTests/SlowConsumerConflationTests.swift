import Connections
import Core
import Dialects
import Reactors
import Rights
import TestSupport
import Testing

@testable import Topics
@testable import Transports

/// A connection whose peer does not read, thinned by the rules of its topics' namespaces.
@Suite struct QueueThinnerTests {
    /// The owner of a connection: it runs the body once bytes can flow, and thins when told to.
    private final class Owner: ConnectionHandler {
        let thin: (Connection, OutboundBound) -> Bool
        let body: (Connection) -> Void
        var connection: Connection?
        var reason: CloseReason?

        init(_ thin: @escaping (Connection, OutboundBound) -> Bool, _ body: @escaping (Connection) -> Void) {
            self.thin = thin
            self.body = body
        }

        func opened(_ connection: Connection) {
            body(connection)
            connection.abort(.normal)
        }

        func received(_ bytes: Span<UInt8>) {}
        func deadlineReached() {}
        func readTooSlowly(_ bound: OutboundBound) -> Bool { connection.map { thin($0, bound) } ?? false }
        func ended(_ reason: CloseReason) { self.reason = reason }
    }

    /// One queue with room for so many bytes, and what is given to it.
    private final class Queue {
        var limits = Limits()
        var counts = OutboundCounts()
        var given = 0
        var gaps = 0
        var bounds: [OutboundBound] = []
        let encoding = Encoding(
            number: 0, encoder: NativeEventEncoder(), framing: .webSocket, written: Counter())

        init(bytesMax: Int) {
            limits.outboundBytesMax = bytesMax
        }

        /// Gives an event of a thousand bytes to the connection; false when it did not take it.
        func give(_ connection: Connection, _ topic: String, _ event: String, _ offset: Int) -> Bool {
            guard let topic = Topic(topic), let event = EventName(event) else { return false }
            let data = Array("{\"p\":\"\(String(repeating: "x", count: 1_000))\"}".utf8)
            let position = Position(epoch: Array("a".utf8), offset: offset)
            let message = ChannelMessage(position: position, event: event, id: nil, data: data)
            let delivery = Delivery(topic: topic, message: message, counts: counts)
            given += 1
            return connection.send(delivery.frame(encoding), item: delivery)
        }

        var dropped: Int { counts.droppedSlow + counts.droppedGone }
        var isBalanced: Bool { given == counts.written + counts.conflated + dropped + counts.waiting }

        /// Runs the body with an open connection whose peer reads nothing.
        func run(endsBy reason: CloseReason = .normal, _ body: @escaping (Connection) -> Void) throws {
            let access = try AccessPolicy(StandardTables.namespaces)
            let reactor = try Reactor(wake: try Wake())
            let context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(limits, reactors: 1))
            let listening = try Sockets.listen(.tcp(IPAddress(127, 0, 0, 1), port: 0), backlog: 1)
            let owner = Owner(
                { [self] connection, bound in
                    bounds.append(bound)
                    var conflation = SlowConsumerConflation(
                        connection, access: access, limits: limits, nowMs: reactor.nowMs
                    ) { _ in self.encoding }
                    let isEnough = conflation.thin(bound)
                    gaps += conflation.gaps
                    return isEnough
                }, body)
            owner.connection = try Connection.connect(
                context, to: .tcp(IPAddress(127, 0, 0, 1), port: Sockets.port(of: listening.raw)), tls: nil, name: "",
                outboundBytesMax: limits.outboundBytesMax, handler: owner)
            reactor.onTickEnd = { if owner.reason != nil { reactor.stop() } }
            reactor.run()
            #expect(owner.reason == reason)
            #expect(counts.waiting == 0 && isBalanced, "what waited at the end is dropped")
            owner.connection = nil
        }
    }

    private static func waiting(_ connection: Connection) -> [String] {
        connection.waitingFrames().map { frame in
            if let gap = frame.item as? GapNotice { return "\(gap.topic) gap \(gap.position.offset)" }
            guard let delivery = frame.item as? Delivery else { return "answer" }
            return "\(delivery.topic) \(delivery.message.position?.offset ?? 0)"
        }
    }

    @Test func eventsThatMayGoMakeRoomForThoseThatMayNot() throws {
        let queue = Queue(bytesMax: 10_000)
        try queue.run { connection in
            #expect(connection.send([1]))
            for offset in 1...3 { #expect(queue.give(connection, "order:1", "e", offset)) }
            for offset in 1...6 { #expect(queue.give(connection, "shop:1", "queue:update", offset)) }
            #expect(queue.bounds.isEmpty)
            #expect(queue.give(connection, "order:1", "e", 4))
            #expect(queue.bounds == [.bytes] && queue.counts.conflated == 5)
            let expected = [
                "answer", "order:1 1", "order:1 2", "order:1 3", "shop:1 gap 5", "shop:1 6", "order:1 4",
            ]
            #expect(QueueThinnerTests.waiting(connection) == expected)
            #expect(queue.gaps == 1 && queue.isBalanced && queue.dropped == 0)
        }
    }

    @Test func aQueueFullOfWhatMayNotGoIsNotSaved() throws {
        let queue = Queue(bytesMax: 10_000)
        try queue.run(endsBy: .slowConsumer) { connection in
            for offset in 1...7 { #expect(queue.give(connection, "order:1", "e", offset)) }
            for offset in 1...2 { #expect(queue.give(connection, "shop:1", "queue:update", offset)) }
            #expect(!queue.give(connection, "order:1", "e", 8), "the client is to be closed and to resume")
            let left = QueueThinnerTests.waiting(connection).filter { $0.hasPrefix("order") }
            #expect(left == (1...7).map { "order:1 \($0)" }, "none of them was taken out")
            #expect(queue.isBalanced && queue.dropped == 1)
            connection.close(.slowConsumer, discarding: true)
            #expect(queue.isBalanced && queue.counts.waiting == 0)
        }
    }
}
