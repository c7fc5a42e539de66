import Core
import Dialects
import Testing

/// Packets of Socket.IO 5: what is read, and what ends the connection.
@Suite struct SocketIOPacketTests {
    private static let json = JSON.Limits(depthMax: 4, elementsMax: 20)

    /// Kind, attachments, namespace, acknowledgement and payload, as text.
    private static func words(_ text: String) -> String? {
        SocketIOPacket(parsing: Array(text.utf8)[...], json: json).map { packet in
            let payload =
                switch packet.payload {
                case .none: "-"
                case .value(let value): SocketIO.text(value.raw)
                case .refused(let refusal): refusal.code.rawValue
                }
            let ack = packet.ackID.map { "\($0)" } ?? "-"
            return "\(packet.kind) \(packet.attachments) \(SocketIO.text(packet.namespace)) \(ack) \(payload)"
        }
    }

    @Test(arguments: [
        // What the clients send: JavaScript, Python, Swift.
        ("0", "connect 0 / - -"), ("0{}", "connect 0 / - {}"),
        ("0{\"token\":\"x\"}", "connect 0 / - {\"token\":\"x\"}"),
        ("0/,", "connect 0 / - -"), ("0/,{\"token\":\"x\"}", "connect 0 / - {\"token\":\"x\"}"),
        ("0/queue,", "connect 0 /queue - -"), ("0/queue", "connect 0 /queue - -"),
        ("0/queue,{\"token\":\"x\"}", "connect 0 /queue - {\"token\":\"x\"}"), ("0/,1", "connect 0 / 1 -"),
        ("1", "disconnect 0 / - -"), ("1/queue,", "disconnect 0 /queue - -"), ("1/queue", "disconnect 0 /queue - -"),
        ("2[\"e\"]", "event 0 / - [\"e\"]"), ("2[7,{}]", "event 0 / - [7,{}]"), ("2[\"\"]", "event 0 / - [\"\"]"),
        ("2/queue,13[\"subscribe\",{\"shopId\":\"1\"}]", "event 0 /queue 13 [\"subscribe\",{\"shopId\":\"1\"}]"),
        ("2456[\"e\"]", "event 0 / 456 [\"e\"]"), ("20[\"e\"]", "event 0 / 0 [\"e\"]"),
        ("2007[\"e\"]", "event 0 / 7 [\"e\"]"), ("2999999999999999999[\"e\"]", "event 0 / 999999999999999999 [\"e\"]"),
        ("3/queue,13[]", "ack 0 /queue 13 []"), ("313[1,\"2\"]", "ack 0 / 13 [1,\"2\"]"), ("3[]", "ack 0 / - []"),
        ("4{\"message\":\"x\"}", "connectError 0 / - {\"message\":\"x\"}"), ("4\"x\"", "connectError 0 / - \"x\""),
        (
            "52-/queue,[\"e\",{\"_placeholder\":true,\"num\":0},{\"_placeholder\":true,\"num\":1}]",
            "binaryEvent 2 /queue - [\"e\",{\"_placeholder\":true,\"num\":0},{\"_placeholder\":true,\"num\":1}]"
        ),
        ("50-[\"e\"]", "binaryEvent 0 / - [\"e\"]"), ("510-[\"e\"]", "binaryEvent 10 / - [\"e\"]"),
        (
            "51-[\"e\",{\"_placeholder\":false,\"num\":9}]",
            "binaryEvent 1 / - [\"e\",{\"_placeholder\":false,\"num\":9}]"
        ),
        (
            "61-/queue,13[{\"_placeholder\":true,\"num\":0}]",
            "binaryAck 1 /queue 13 [{\"_placeholder\":true,\"num\":0}]"
        ),
        // A query inside a namespace is older than this protocol: it is part of a name that does not exist.
        ("0/queue?a=b,", "connect 0 /queue?a=b - -"),
        // What others would read and the gateway does not is told, not punished.
        ("2[\"e\",{\"a\":1,\"a\":2}]", "event 0 / - bad_request"), ("2[\"e\",[[[[1]]]]]", "event 0 / - too_large"),
        ("2[\"e\",[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19]]", "event 0 / - too_large"),
        ("0{\"a\":1,\"a\":2}", "connect 0 / - bad_request"),
    ])
    func aPacketIsRead(_ text: String, _ expected: String) {
        #expect(Self.words(text) == expected)
    }

    @Test(arguments: [
        "", "7", "9[]", "abc", "\u{0}",
        // Payloads that do not fit the kind.
        "0[]", "0\"x\"", "01x", "0null", "0{", "1{}", "1/queue,[]", "1x",
        "2", "2/queue,", "2/queue,3", "2{}", "2\"e\"", "2null", "2[]", "2[null]", "2[{}]", "2[[\"e\"]]", "2[true]",
        "2[\"e\"", "2[\"e\"]x", "2[\"e\"]]", "2abc[\"e\"]", "2 1[\"e\"]", "2-1[\"e\"]", "2+1[\"e\"]", "21.5[\"e\"]",
        "2queue,[\"e\"]", "2,[\"e\"]", "2/queue[\"e\"]", "2[\"e\",]", "2['e']", "2[\"e\",NaN]",
        "3", "3{}", "3/queue,13", "3\"x\"", "4", "4[]", "41", "4null",
        // Names that the client libraries keep for themselves.
        "2[\"connect\"]", "2[\"connect_error\"]", "2[\"disconnect\"]", "2[\"disconnecting\"]", "2[\"newListener\"]",
        "2[\"removeListener\"]", "51-[\"connect\"]", "2[\"\\u0063onnect\"]",
        // Attachments.
        "5[\"e\"]", "5-[\"e\"]", "51[\"e\"]", "5a-[\"e\"]", "5-1-[\"e\"]", "51.5-[\"e\"]", "501-[\"e\"]", "511-[\"e\"]",
        "599999999999999999999-[\"e\"]", "6-[]", "61-", "61-{}", "5", "51", "51-",
        "51-[\"e\",{\"_placeholder\":true,\"num\":1}]", "51-[\"e\",{\"_placeholder\":true,\"num\":-1}]",
        "51-[\"e\",{\"_placeholder\":true,\"num\":\"0\"}]", "51-[\"e\",{\"_placeholder\":true}]",
        "51-[\"e\",{\"_placeholder\":true,\"num\":0.5}]", "50-[\"e\",{\"_placeholder\":true,\"num\":0}]",
        "51-[\"e\",{\"a\":[{\"_placeholder\":true,\"num\":1}]}]", "61-[{\"_placeholder\":true,\"num\":1}]",
        // Acknowledgement numbers beyond what can be counted.
        "29999999999999999999[\"e\"]", "2\(String(repeating: "0", count: 19))[\"e\"]",
        // Names that could end the packet that repeats them.
        "0/a\u{1e}b,", "0/a\nb", "0/\u{0}", "0/\(String(repeating: "a", count: 128)),",
    ])
    func aMalformedPacketIsNone(_ text: String) {
        #expect(Self.words(text) == nil)
    }

    @Test func bytesThatAreNoTextAreNone() {
        for bytes: [UInt8] in [[0x32, 0x5b, 0x22, 0xff, 0x22, 0x5d], [0xff], [0x30, 0x2f, 0x61, 0x2c, 0xc0]] {
            #expect(SocketIOPacket(parsing: bytes[...], json: Self.json) == nil)
        }
    }

    /// Each packet cut after each byte is read or refused, never a trap.
    @Test func everyBeginningOfAPacketIsReadOrRefused() {
        let whole = Array(
            "52-/queue,13[\"e\",{\"a\":[{\"_placeholder\":true,\"num\":0}]},{\"_placeholder\":true,\"num\":1}]".utf8)
        for count in 0...whole.count {
            let packet = SocketIOPacket(parsing: whole[..<count], json: JSON.Limits(depthMax: 8, elementsMax: 50))
            #expect((packet != nil) == (count == whole.count))
        }
    }
}
