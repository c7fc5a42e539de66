import Core
import Dialects
import Testing

/// Engine.IO 4: packets, payloads, the open packet and the signs of life.
@Suite struct EngineIOTests {
    @Test func everyTypeIsReadByItsDigit() {
        let expected: [(String, EnginePacket.Kind?)] = [
            ("0{}", .open), ("1", .close), ("2", .ping), ("2probe", .ping), ("3", .pong), ("3probe", .pong),
            ("4hello", .message), ("4", .message), ("5", .upgrade), ("6", .noop),
            ("", nil), ("7", nil), ("9", nil), ("a", nil), ("bAQID", nil), ("abc", nil), ("\u{0}", nil), ("é", nil),
            (" 4", nil),
        ]
        for (text, kind) in expected {
            #expect(EnginePacket(message: Array(text.utf8), as: .text)?.kind == kind, "\(text)")
        }
        let bytes = EnginePacket(message: [0x34, 1, 2], as: .binary)
        #expect(bytes == EnginePacket(.bytes, [0x34, 1, 2][...]))
        #expect(EnginePacket(message: [], as: .binary)?.kind == .bytes)
    }

    @Test(arguments: [
        ("4hello", ["4hello"]), ("4test1\u{1e}4test2\u{1e}4test3", ["4test1", "4test2", "4test3"]),
        ("4hello\u{1e}bAQIDBA==", ["4hello", "[1, 2, 3, 4]"]), ("b", ["[]"]), ("3", ["3"]),
        ("41/queue,\u{1e}1", ["41/queue,", "1"]),
        ("4\u{20ac}", ["4\u{20ac}"]),
    ])
    func aPayloadIsTakenApart(_ body: String, _ packets: [String]) throws {
        let units = try #require(EnginePayload.messages(of: Array(body.utf8), packetsMax: 4))
        #expect(units.map { $0.kind == .text ? SocketIO.text($0.bytes) : "\($0.bytes)" } == packets)
        // What was read is written alike.
        let written = units.map(EnginePayload.packet(of:)).joined(separator: [EnginePayload.separator])
        #expect(SocketIO.text(written) == body)
    }

    @Test(arguments: [
        "", "\u{1e}", "4a\u{1e}", "\u{1e}4a", "4a\u{1e}\u{1e}4b", "bAQ", "bA===", "b!", "bAQIDBA", "4a\u{1e}b_-8=",
        "4\u{1e}4\u{1e}4\u{1e}4\u{1e}4",
    ])
    func aBadPayloadIsRefusedWhole(_ body: String) {
        #expect(EnginePayload.messages(of: Array(body.utf8), packetsMax: 4) == nil)
    }

    @Test func aPayloadThatIsNotTextIsRefused() {
        #expect(EnginePayload.messages(of: [0x34, 0xff], packetsMax: 4) == nil)
    }

    @Test(arguments: [(false, "[]"), (true, "[\"websocket\"]")])
    func theOpenPacketHasExactlyItsMembers(_ upgrades: Bool, _ list: String) {
        var machine = SocketIO.dialect.converse(sid: Array("s-1".utf8), upgrades: upgrades)
        var steps: [DialectStep] = []
        machine.began(nowMs: 0, &steps)
        let packet =
            "0{\"sid\":\"s-1\",\"upgrades\":\(list),\"pingInterval\":300,\"pingTimeout\":200,\"maxPayload\":1000000}"
        #expect(steps == [.say(WireUnit(.text, Array(packet.utf8)))])
    }

    @Test func aWebSocketHasItsOwnRandomSession() throws {
        let ids = SocketIODialect(namespaces: ["/"], settings: SocketIO.settings) { Array("random".utf8) }
        var machine = ids.converse()
        var steps: [DialectStep] = []
        machine.began(nowMs: 0, &steps)
        guard case .say(let unit)? = steps.first else { return #expect(Bool(false), "\(steps)") }
        #expect(SocketIO.text(unit.bytes).hasPrefix("0{\"sid\":\"random\",\"upgrades\":[]"))
    }

    @Test func aClientThatAnswersIsAskedAgainAndAgain() {
        var client = SocketIOClient(in: ["/"])
        for round in 0..<3 {
            let asked = 300 * (round + 1) + 10 * round
            #expect(client.machine.deadlineMs == asked)
            #expect(client.waits() == ["2"])
            #expect(client.machine.deadlineMs == asked + 200)
            // The next question comes an interval after the answer; Python repeats what a ping carried.
            #expect(client.says(round == 1 ? "3data" : "3", at: asked + 10) == [])
        }
    }

    @Test func aClientThatDoesNotAnswerIsGoneWhateverElseItSends() {
        var client = SocketIOClient(in: ["/"])
        #expect(client.waits() == ["2"])
        #expect(client.says("42[\"ping\"]", at: 400) == ["request 1 ping"])
        #expect(client.machine.deadlineMs == 500)
        #expect(client.waits() == ["close timeout"])
        #expect(client.waits() == ["for ever"])
    }

    @Test func aDeadlineThatComesEarlyDoesNothing() {
        var client = SocketIOClient(in: ["/"])
        var steps: [DialectStep] = []
        client.machine.deadlineReached(nowMs: 299, &steps)
        #expect(steps.isEmpty)
    }

    @Test func aClientThatEntersNoNamespaceIsClosed() {
        var client = SocketIOClient()
        #expect(client.waits() == ["2"])
        #expect(client.says("3", at: 310) == [])
        #expect(client.waits() == ["2"])
        #expect(client.says("3", at: 620) == [])
        #expect(client.waits() == ["2"])
        #expect(client.says("3", at: 930) == [])
        // A namespace that does not exist or stays closed is no namespace.
        #expect(client.says("40/random", at: 930) == ["44/random,{\"message\":\"Invalid namespace\"}"])
        client.opensDoors = false
        #expect(client.says("40/queue", at: 930) == ["open 1 -"])
        _ = client.refused(1, Refusal(.unauthorized, "No."))
        #expect(client.machine.deadlineMs == 1_000)
        #expect(client.waits() == ["close timeout"])
    }

    @Test(arguments: [
        ("0", []), ("0{}", []), ("3", []), ("5", []), ("6", []), ("6x", []), ("1", ["close normal"]),
        ("2", ["close bad_request"]), ("2probe", ["close bad_request"]), ("abc", ["close bad_request"]),
        ("", ["close bad_request"]), ("7", ["close bad_request"]), ("b", ["close bad_request"]),
        ("4abc", ["close bad_request"]), ("4", ["close bad_request"]),
    ])
    func strayPacketsAreIgnoredOrEndTheConnection(_ text: String, _ lines: [String]) {
        for namespaces in [[], ["/"]] {
            var client = SocketIOClient(in: namespaces)
            #expect(client.says(text) == lines)
            if lines.isEmpty { continue }
            // Nothing is read after the end.
            #expect(client.says("40") == [])
            #expect(client.waits() == ["for ever"])
        }
    }

    @Test(arguments: [
        (["2probe", "5"], "3probe move"), (["5"], "refuse"), (["2"], "refuse"), (["2other"], "refuse"),
        (["2probe", "2probe"], "3probe refuse"), (["2probe", "40"], "3probe refuse"), ([""], "refuse"),
        (["3probe"], "refuse"), (["2probe", "5x"], "3probe move"), (["2probe", "1"], "3probe refuse"),
    ])
    func aSessionMovesAfterOneProbe(_ messages: [String], _ steps: String) {
        var probe = EngineProbe()
        let taken = messages.map { message in
            switch probe.received(Array(message.utf8), as: .text) {
            case .answer(let packet): SocketIO.text(packet)
            case .move: "move"
            case .refuse: "refuse"
            }
        }
        #expect(taken.joined(separator: " ") == steps)
        var binary = EngineProbe()
        #expect(binary.received(Array("2probe".utf8), as: .binary) == .refuse)
    }
}
