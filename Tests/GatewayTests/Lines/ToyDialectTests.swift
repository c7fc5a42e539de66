import Core
import Dialects
import Testing

@testable import Gateway

/// A dialect that the gateway has never heard of works when its three types are written: nothing else changes.
@Suite struct ToyDialectTests {
    private let gateway: ToyGateway
    private let topic: Topic

    init() throws {
        gateway = try ToyGateway()
        topic = try #require(Topic("shop:42"))
    }

    @Test func itSpeaksFirstAsksAndHears() throws {
        let line = ToyLine(gateway, ToyDialect())
        #expect(line.take() == ["hello", "opened 0"])
        #expect(line.client("7 +shop:42"))
        #expect(line.take() == [])
        gateway.topics.confirmed(topic)
        #expect(line.take() == ["7 on shop:42 0"])
        try gateway.event(topic, "queue:update")
        #expect(line.take() == ["shop:42 queue:update"])
        line.client("8 -shop:42")
        #expect(line.take() == ["8 off shop:42"])
        try gateway.event(topic, "queue:update")
        #expect(line.take() == [])
    }

    @Test func itsBytesAreMadeOnceForAllWhoShareThem() throws {
        let lines = (0..<5).map { _ in ToyLine(gateway, ToyDialect()) }
        let native = ToyLine(gateway, NativeDialect(json: Limits().json, subscribeBatchMax: 8, publishBytesMax: 1_024))
        for line in lines { line.client("1 +shop:42") }
        native.client("{\"event\":\"subscribe\",\"topic\":\"shop:42\"}")
        gateway.topics.confirmed(topic)
        for line in lines + [native] { _ = line.take() }
        try gateway.event(topic, "e")
        #expect(lines.allSatisfy { $0.take() == ["shop:42 e"] })
        #expect(native.take() == ["{\"topic\":\"shop:42\",\"event\":\"e\",\"data\":{},\"offset\":1}"])
        #expect(gateway.encodingsMade == 2)
    }

    /// One connection, two doors: the same topic comes through both, as each door has it.
    @Test func doorsAreIdentitiesOfTheirOwn() throws {
        let line = ToyLine(gateway, ToyDialect())
        line.client("open bad")
        line.client("open good")
        #expect(line.take() == ["hello", "opened 0", "refused 1 unauthorized", "opened 1"])
        line.client("1 +shop:42")
        line.client("2 +shop:42 2")
        gateway.topics.confirmed(topic)
        _ = line.take()
        try gateway.event(topic, "e")
        #expect(line.take().sorted() == ["2: shop:42 e", "shop:42 e"])
        // A gap could not be told at the right door: events of that topic are not thinned.
        #expect(line.peer?.encoding(of: topic) == nil)
        line.client("end")
        #expect(line.peer?.encoding(of: topic) != nil)
        try gateway.event(topic, "f")
        #expect(line.take() == ["shop:42 f"])
        line.client("3 +shop:1 2")
        #expect(line.take() == [], "nobody is behind a door that has ended")
    }

    @Test func whatItCannotSayIsLeftOut() throws {
        let line = ToyLine(gateway, ToyDialect())
        line.client("1 +shop:42")
        gateway.topics.confirmed(topic)
        _ = line.take()
        try gateway.event(topic, "unsayable")
        try gateway.event(topic, "e")
        #expect(line.take() == ["shop:42 e"])
    }

    /// The line makes the client pay for what no session was asked.
    @Test func whatNoSessionPaidForIsToldToTheLine() {
        let line = ToyLine(gateway, ToyDialect())
        #expect(line.client("1 +shop:42") && line.client("nonsense"))
        #expect(!line.client("noop") && !line.client("open bad"))
    }

    @Test func itKeepsItsOwnClock() {
        let line = ToyLine(gateway, ToyDialect())
        #expect(line.peer?.deadlineMs == 2_000)
        gateway.nowMs = 2_000
        line.peer?.deadlineReached()
        #expect(line.take() == ["hello", "opened 0", "still here"])
        #expect(line.peer?.deadlineMs == 3_000)
    }

    @Test func afterTheEndNothingIsSaid() throws {
        let line = ToyLine(gateway, ToyDialect())
        line.client("1 +shop:42")
        gateway.topics.confirmed(topic)
        line.client("bye")
        #expect(line.closed == .normal)
        _ = line.take()
        line.peer?.ended()
        try gateway.event(topic, "e")
        line.client("2 +shop:1")
        line.peer?.tell(.draining(reconnectAfterMs: 1))
        #expect(line.take() == [] && line.peer?.sessions.isEmpty == true)
    }
}
