import Core
import Testing

@testable import Dialects

@Suite struct ManagerPacketTests {
    private static let limits = JSON.Limits(depthMax: 4, elementsMax: 50)

    private static func packet(
        _ text: String, dataBytesMax: Int = 200
    ) throws(EmitterPacket.Fault) -> EmitterPacket {
        try EmitterPacket(manager: Array(text.utf8), limits: limits, dataBytesMax: dataBytesMax)
    }

    /// An emit as python-socketio 5.18 writes it, with these members in place of its own.
    private static func emit(
        data: String = "[{\"n\": 1}]", binary: String = "false", namespace: String = "\"/\"",
        room: String = "\"shop:42\"", skipSid: String = "null", callback: String = "null"
    ) -> String {
        "{\"method\": \"emit\", \"event\": \"e\", \"data\": \(data), \"binary\": \(binary), \"namespace\": \(namespace), "
            + "\"room\": \(room), \"skip_sid\": \(skipSid), \"callback\": \(callback), \"host_id\": \"a1\"}"
    }

    private static func data(_ data: String, binary: String = "false") throws(EmitterPacket.Fault) -> String {
        String(decoding: try packet(emit(data: data, binary: binary)).data, as: UTF8.self)
    }

    @Test func readsWhatTheLibraryWrites() throws {
        let packet = try ManagerPacketTests.packet(ManagerPacketTests.emit(namespace: "\"/queue\""))
        #expect(packet.namespace == Array("/queue".utf8))
        #expect(packet.event == Array("e".utf8))
        #expect(packet.data == Array("{\"n\": 1}".utf8))
        #expect(packet.rooms == [Array("shop:42".utf8)])
    }

    @Test(arguments: [
        ("[{\"n\": 1}]", "{\"n\": 1}"), ("{\"n\": 1}", "{\"n\": 1}"), ("[null]", "{}"), ("[]", "{}"), ("null", "{}"),
        ("[\"text\"]", "\"text\""), ("7", "7"),
    ])
    func theOnlyArgumentIsTheEvent(_ data: String, _ expected: String) throws {
        #expect(try ManagerPacketTests.data(data) == expected)
    }

    @Test func attachmentsAreInTheirPlaces() throws {
        let placed =
            "[[{\"a\": {\"_placeholder\": true, \"num\": 1}, \"b\": {\"_placeholder\": true, \"num\": 0}}], \"AP8=\", \"\"]"
        #expect(
            try ManagerPacketTests.data(placed, binary: "true")
                == "{\"a\": {\"$bytes\":\"\"}, \"b\": {\"$bytes\":\"AP8=\"}}")
    }

    @Test(arguments: [
        "[[{\"_placeholder\": true, \"num\": 1}], \"AP8=\"]", "[[{\"_placeholder\": true, \"num\": 0}], \"AP8\"]",
        "[[{\"_placeholder\": true, \"num\": 0}], 7]", "[]", "{}", "null ]",
    ])
    func attachmentsThatDoNotFitAreMalformed(_ data: String) {
        #expect(throws: EmitterPacket.Fault.malformed) { try ManagerPacketTests.data(data, binary: "true") }
    }

    @Test func roomsAreEachThereOnce() throws {
        let packet = try ManagerPacketTests.packet(ManagerPacketTests.emit(room: "[\"a:1\", \"b:2\", \"a:1\", 7]"))
        #expect(packet.rooms == ["a:1", "b:2", "7"].map { Array($0.utf8) })
        #expect(try ManagerPacketTests.packet(ManagerPacketTests.emit(room: "7")).rooms == [Array("7".utf8)])
        let many = (0...EmitterPacket.roomsMax).map { "\"a:\($0)\"" }.joined(separator: ",")
        #expect(throws: EmitterPacket.Fault.tooLarge) {
            try ManagerPacketTests.packet(ManagerPacketTests.emit(room: "[\(many)]"))
        }
    }

    @Test(arguments: [
        (emit(room: "null"), EmitterPacket.Fault.everyone), (emit(room: "[]"), .everyone),
        (emit(skipSid: "\"sid\""), .except), (emit(skipSid: "[\"sid\"]"), .except),
        (emit(callback: "[\"shop:42\", \"/\", 1]"), .callback), (emit(data: "[1, 2]"), .arguments),
        (emit(data: "[null, {}]"), .arguments), (emit(data: "[[null, {}]]", binary: "true"), .arguments),
        ("{\"method\": \"callback\", \"id\": 1, \"args\": []}", .callback), (emit(data: "[{\"x\": NaN}]"), .malformed),
        (emit(data: "[\"\(String(repeating: "x", count: 199))\"]"), .tooLarge),
        (emit(data: String(repeating: "[", count: 8) + String(repeating: "]", count: 8)), .tooLarge),
        (emit(namespace: "7"), .malformed), (emit(namespace: "\"\""), .malformed),
        ("{\"method\": \"disconnect\", \"sid\": \"x\", \"namespace\": \"/\"}", .order),
        ("{\"method\": \"enter_room\"}", .order), ("{\"method\": 7}", .malformed), ("{}", .malformed),
        ("[]", .malformed),
        ("{\"method\": \"emit\", \"room\": \"shop:42\"}", .malformed), ("", .malformed),
        // What versions before 5.14 wrote: a pickle.
        ("\u{80}\u{4}\u{95}K", .malformed),
    ])
    func otherMessagesAreRefused(_ text: String, _ fault: EmitterPacket.Fault) {
        #expect(throws: fault) { try ManagerPacketTests.packet(text) }
    }

    @Test func emptyListsLeaveNobodyOut() throws {
        #expect(try !ManagerPacketTests.packet(ManagerPacketTests.emit(skipSid: "[]", callback: "[]")).rooms.isEmpty)
    }
}
