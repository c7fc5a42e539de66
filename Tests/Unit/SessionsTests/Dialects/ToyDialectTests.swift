import Core
import Dialects
import Testing

@testable import Sessions
@testable import Topics

/// A dialect that the gateway has never heard of works when its three types are written: nothing else changes.
@Suite struct ToyDialectTests {
    private let gateway: ToyGateway
    private let topic: Topic

    init() throws {
        gateway = try ToyGateway()
        topic = try #require(Topic("shop:42"))
    }

    @Test func itSpeaksFirstAsksAndHears() throws {
        let transport = ToyLine(gateway, ToyDialect())
        #expect(transport.take() == ["hello", "opened 0"])
        #expect(transport.client("7 +shop:42"))
        #expect(transport.take() == [])
        gateway.topics.confirmed(topic)
        #expect(transport.take() == ["7 on shop:42 0"])
        try gateway.event(topic, "queue:update")
        #expect(transport.take() == ["shop:42 queue:update"])
        transport.client("8 -shop:42")
        #expect(transport.take() == ["8 off shop:42"])
        try gateway.event(topic, "queue:update")
        #expect(transport.take() == [])
    }

    @Test func itsBytesAreMadeOnceForAllWhoShareThem() throws {
        let transports = (0..<5).map { _ in ToyLine(gateway, ToyDialect()) }
        let native = ToyLine(gateway, NativeDialect(json: Limits().json, subscribeBatchMax: 8, publishBytesMax: 1_024))
        for transport in transports { transport.client("1 +shop:42") }
        native.client("{\"event\":\"subscribe\",\"topic\":\"shop:42\"}")
        gateway.topics.confirmed(topic)
        for transport in transports + [native] { _ = transport.take() }
        try gateway.event(topic, "e")
        #expect(transports.allSatisfy { $0.take() == ["shop:42 e"] })
        #expect(native.take() == ["{\"topic\":\"shop:42\",\"event\":\"e\",\"data\":{},\"offset\":1}"])
        #expect(gateway.encodingsMade == 2)
    }

    /// The peer of an ended connection took the events of the tick and counted them nowhere.
    @Test func eventsThatTheEndFindsOnTheirWayAreCounted() throws {
        let transport = ToyLine(gateway, ToyDialect())
        transport.client("1 +shop:42")
        gateway.topics.confirmed(topic)
        try gateway.receive(topic, "e")
        try gateway.receive(topic, "f")
        transport.peer?.ended(.peerGone, waiting: [])
        gateway.topics.endBatch()
        let report = gateway.topics.report(topic)
        #expect(report.handed == 2 && report.droppedGone == 2)
        #expect(report.isBalanced)
    }

    /// One connection, two doors: the same topic comes through both, as each door has it.
    @Test func doorsAreIdentitiesOfTheirOwn() throws {
        let transport = ToyLine(gateway, ToyDialect())
        transport.client("open bad")
        transport.client("open good")
        #expect(transport.take() == ["hello", "opened 0", "refused 1 unauthorized", "opened 1"])
        transport.client("1 +shop:42")
        transport.client("2 +shop:42 2")
        gateway.topics.confirmed(topic)
        _ = transport.take()
        try gateway.event(topic, "e")
        #expect(transport.take().sorted() == ["2: shop:42 e", "shop:42 e"])
        // A gap could not be told at the right door: events of that topic are not thinned.
        #expect(transport.peer?.encoding(of: topic) == nil)
        transport.client("end")
        #expect(transport.peer?.encoding(of: topic) != nil)
        try gateway.event(topic, "f")
        #expect(transport.take() == ["shop:42 f"])
        transport.client("3 +shop:1 2")
        #expect(transport.take() == [], "nobody is behind a door that has ended")
    }

    @Test func whatItCannotSayIsLeftOut() throws {
        let transport = ToyLine(gateway, ToyDialect())
        transport.client("1 +shop:42")
        gateway.topics.confirmed(topic)
        _ = transport.take()
        try gateway.event(topic, "unsayable")
        try gateway.event(topic, "e")
        #expect(transport.take() == ["shop:42 e"])
    }

    /// The line makes the client pay for what no session was asked.
    @Test func whatNoSessionPaidForIsToldToTheLine() {
        let transport = ToyLine(gateway, ToyDialect())
        #expect(transport.client("1 +shop:42") && transport.client("nonsense"))
        #expect(!transport.client("noop") && !transport.client("open bad"))
    }

    @Test func itKeepsItsOwnClock() {
        let transport = ToyLine(gateway, ToyDialect())
        #expect(transport.peer?.deadlineMs == 2_000)
        gateway.nowMs = 2_000
        transport.peer?.deadlineReached()
        #expect(transport.take() == ["hello", "opened 0", "still here"])
        #expect(transport.peer?.deadlineMs == 3_000)
    }

    @Test func afterTheEndNothingIsSaid() throws {
        let transport = ToyLine(gateway, ToyDialect())
        transport.client("1 +shop:42")
        gateway.topics.confirmed(topic)
        transport.client("bye")
        #expect(transport.closed == .normal)
        _ = transport.take()
        transport.peer?.ended(.peerGone, waiting: [])
        try gateway.event(topic, "e")
        transport.client("2 +shop:1")
        transport.peer?.send(.draining(reconnectAfterMs: 1))
        #expect(transport.take() == [] && transport.peer?.sessions.isEmpty == true)
    }
}
