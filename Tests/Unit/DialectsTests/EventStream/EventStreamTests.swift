import Core
import Testing

@testable import Dialects

/// Event streams byte by byte (WHATWG HTML, section 9.2).
struct EventStreamTests {
    private static func machine(_ topics: String..., since: [Position?] = []) throws -> any DialectMachine {
        let requests = try topics.enumerated().map { index, topic in
            SubscribeRequest(topic: try Native.topic(topic), since: index < since.count ? since[index] : nil)
        }
        return EventStreamDialect(requests, heartbeatMs: 25_000).converse()
    }

    private static func said(_ steps: [DialectStep]) -> String {
        steps.map { step in
            if case .say(let unit) = step { return String(decoding: unit.bytes, as: UTF8.self) }
            return "<\(step)>"
        }.joined()
    }

    private static func told(_ machine: inout any DialectMachine, _ message: ServerMessage) -> String {
        var steps: [DialectStep] = []
        machine.send(message, at: .main, ref: nil, &steps)
        return said(steps)
    }

    @Test func itBeginsByItself() throws {
        var machine = try Self.machine("shop:42", "dj:42")
        var steps: [DialectStep] = []
        machine.began(nowMs: 100, &steps)
        #expect(steps.count == 3 && steps[1] == .open(.main, token: nil))
        #expect(Self.said([steps[0]]) == "retry: 2000\n\n")
        let requests = try ["shop:42", "dj:42"].map { SubscribeRequest(topic: try Native.topic($0), since: nil) }
        #expect(steps[2] == .request(.main, .success(ClientRequest(command: .subscribe(requests), ref: nil))))
        #expect(machine.deadlineMs == 25_100)
    }

    @Test func anEventOfOneTopicBearsItsPosition() throws {
        let event = ChannelMessage(
            position: try Native.position("k3", 18), event: try #require(EventName("queue:update")), id: nil,
            data: Array("{\"a\":\r1,\n\"b\":2}".utf8))
        let encoders = EventStreamDialect([], heartbeatMs: 1).encoders
        let native =
            "event: queue:update\ndata: {\"topic\":\"shop:42\",\"event\":\"queue:update\",\"data\":{\"a\": 1, \"b\":2},"
        for (encoder, id) in zip(encoders, ["id: k3:18\n", ""]) {
            let units = encoder.event(try Native.topic("shop:42"), event)
            #expect(Self.said(units.map { .say($0) }) == id + native + "\"offset\":18}\n\n")
        }
        #expect(encoders.map(\.name) == ["stream", "streams"])
    }

    @Test func severalTopicsAreMarkedForEachClient() throws {
        var machine = try Self.machine("shop:42", "dj:42")
        #expect(machine.isDecorating && machine.encoder(of: .main) == 1)
        let (first, second) = (try Native.position("d", 2), try Native.position("s", 9))
        let marks = [
            machine.decorate(try Native.topic("dj:42"), first, at: .main) { [] },
            machine.decorate(try Native.topic("shop:42"), second, at: .main) { [] },
        ]
        let texts = ["id: -,d:2\n", "id: s:9,d:2\n"]
        #expect(marks == texts.map { .before(WireUnit(.text, Array($0.utf8))) })
        let single = try Self.machine("shop:42")
        #expect(!single.isDecorating && single.encoder(of: .main) == 0)
    }

    /// `subscribed` names the present position although what was missed comes after it.
    @Test func theClientStandsWhereItStoodUntilWhatItMissedHasCome() throws {
        let since = try Native.position("k", 3)
        var machine = try Self.machine("shop:42", since: [since])
        let topic = try Native.topic("shop:42")
        let answer = ServerMessage.subscribed(
            topic: topic, position: try Native.position("k", 7), recovered: true, state: nil)
        #expect(Self.told(&machine, answer).hasPrefix("id: k:3\nevent: subscribed\n"))
        let anew = ServerMessage.subscribed(
            topic: topic, position: try Native.position("m", 7), recovered: false, state: nil)
        #expect(Self.told(&machine, anew).hasPrefix("id: m:7\nevent: subscribed\n"))
    }

    /// Where events bear their own positions, the conversation does not know how far they have come.
    @Test func aWordThatMovesNothingBearsNoOldPosition() throws {
        var machine = try Self.machine("shop:42", since: [try Native.position("k", 3)])
        let warning = ServerMessage.warning(code: .rateLimited, message: "x", perSecond: 1)
        #expect(Self.told(&machine, warning).hasPrefix("event: warning\n"))
        let gap = ServerMessage.gap(topic: try Native.topic("shop:42"), position: nil, reason: .missed)
        #expect(Self.told(&machine, gap).hasPrefix("event: gap\n"))
        let reset = ServerMessage.gap(
            topic: try Native.topic("shop:42"), position: try Native.position("n", 1), reason: .reset)
        #expect(Self.told(&machine, reset).hasPrefix("id: n:1\nevent: gap\n"))
    }

    @Test func aStreamWithoutTopicsEnds() throws {
        var machine = try Self.machine("shop:1", "shop:2")
        let refusal = Refusal(.forbidden, "no")
        let first = Self.told(&machine, .error(refusal, topic: try Native.topic("shop:1")))
        #expect(first.hasPrefix("id: -,-\nevent: refused\n") && !first.contains("<close"))
        #expect(
            Self.told(&machine, .unsubscribed(topic: try Native.topic("shop:2"))).contains("<close("))
    }

    @Test(arguments: [
        ("", 1), ("k", 1), ("k:", 1), ("k:1:2", 1), ("k:-1", 1), ("k:1,", 1), ("k:1", 2), (":1", 1),
        ("k:99999999999999999999", 1),
        ("k\n:1", 1), ("--:x", 1),
    ])
    func whatIsNoPositionIsRefused(_ text: String, _ count: Int) {
        #expect(EventStreamPositions(Array(text.utf8), count: count) == nil)
    }

    @Test func positionsAreReadAsTheyAreWritten() throws {
        for text in ["-", "k:0", "k3_-x:18,-,a:1", "-,-"] {
            let count = text.split(separator: ",").count
            #expect(try #require(EventStreamPositions(Array(text.utf8), count: count)).text == Array(text.utf8))
        }
    }
}
