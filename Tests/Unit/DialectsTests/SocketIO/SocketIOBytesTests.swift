import Core
import Dialects
import Testing

/// Bytes both ways: attachments on the wire, `{"$bytes":"<base64>"}` in data.
@Suite struct SocketIOBytesTests {
    private static let topic = Topic("shop:1")

    private func units(_ data: String, positions: Bool = false) throws -> [String] {
        let topic = try #require(Topic("shop:1"))
        let message = ChannelMessage(
            position: Position(epoch: Array("k3x9".utf8), offset: 18), event: try #require(EventName("e")), id: nil,
            data: Array(data.utf8))
        return SocketIOEventEncoder(namespace: Array("/queue".utf8), positions: positions).event(topic, message)
            .map { $0.kind == .text ? SocketIO.text($0.bytes) : "\($0.bytes)" }
    }

    // MARK: To a client

    @Test func bytesInAnEventAreAttachmentsBehindIt() throws {
        #expect(
            try units("{\"a\":{\"$bytes\":\"AQID\"},\"b\":[1,{\"$bytes\":\"\"}]}") == [
                "452-/queue,[\"e\",{\"a\":{\"_placeholder\":true,\"num\":0},\"b\":[1,{\"_placeholder\":true,\"num\":1}]}]",
                "[1, 2, 3]", "[]",
            ])
        // An event of nothing but bytes, as clients of Supabase broadcast it.
        #expect(
            try units("{\"$bytes\":\"AQID\"}", positions: true) == [
                "451-/queue,[\"e\",{\"_placeholder\":true,\"num\":0},"
                    + "{\"topic\":\"shop:1\",\"epoch\":\"k3x9\",\"offset\":18}]", "[1, 2, 3]",
            ])
    }

    @Test(arguments: [
        "{}", "{\"$bytes\":1}", "{\"$bytes\":\"AQI\"}", "{\"$bytes\":\"AQID\",\"more\":1}", "{\"a\":\"$bytes\"}",
        "{\"bytes\":\"AQID\"}", "{\"a\":\"{\\\"$bytes\\\":\\\"AQID\\\"}\"}", "{\"price\":\"$5\"}",
    ])
    func whatIsNoBytesStaysAsItIs(_ data: String) throws {
        #expect(try units(data) == ["42/queue,[\"e\",\(data)]"])
    }

    /// A publisher could have made every client take a placeholder of its own for an attachment that is not there.
    @Test(arguments: ["{\"_placeholder\":true,\"num\":7}", "{\"_placeholder\":false}", "{\"\\u005fplaceholder\":true}"])
    func dataWithPlaceholdersOfItsOwnStaysJSON(_ hostile: String) throws {
        let data = "{\"a\":{\"$bytes\":\"AQID\"},\"b\":\(hostile)}"
        #expect(try units(data) == ["42/queue,[\"e\",\(data)]"])
    }

    @Test func moreThanAPacketMayHaveStaysJSON() throws {
        func data(_ count: Int) -> String {
            "{\"a\":[" + Array(repeating: "{\"$bytes\":\"AQ==\"}", count: count).joined(separator: ",") + "]}"
        }
        #expect(try units(data(10)).count == 11)
        #expect(try units(data(11)) == ["42/queue,[\"e\",\(data(11))]"])
    }

    @Test func anAcknowledgementHasBytesToo() {
        var client = SocketIOClient(in: ["/queue"])
        #expect(client.says("42/queue,13[\"photo\",{}]") == ["request 1 command photo {}"])
        #expect(
            client.told(.ack(data: Array("{\"jpeg\":{\"$bytes\":\"/9g=\"}}".utf8))) == [
                "461-/queue,13[{\"jpeg\":{\"_placeholder\":true,\"num\":0}}]", "bytes [255, 216]",
            ])
    }

    // MARK: From a client

    @Test func attachmentsOfAnEventStandInItsData() {
        var client = SocketIOClient(in: ["/queue"])
        let head =
            "452-/queue,7[\"blob\",{\"a\":{\"_placeholder\":true,\"num\":1},\"b\":[0,{\"num\":0,\"_placeholder\":true}]}]"
        #expect(client.says(head) == [])
        #expect(client.sends([1]) == [])
        // A sign of life may come between.
        #expect(client.says("3") == [])
        #expect(
            client.sends([2, 3]) == [
                "request 1 command blob {\"a\":{\"$bytes\":\"AgM=\"},\"b\":[0,{\"$bytes\":\"AQ==\"}]}"
            ])
        #expect(client.says("450-/queue,[\"ping\"]") == ["request 1 ping"])
    }

    /// Sixty kilobytes that stand in a thousand places would be sixty megabytes.
    @Test func anAttachmentStandsInOnePlace() {
        var client = SocketIOClient(in: ["/"])
        let placeholder = "{\"_placeholder\":true,\"num\":0}"
        #expect(client.says("451-[\"blob\",{\"a\":\(placeholder),\"b\":\(placeholder)}]") == [])
        #expect(client.sends([1]) == ["refusal 1 bad_request Each attachment may stand in one place."])
        #expect(client.says("42[\"ping\"]") == ["request 1 ping"])
    }

    @Test func whatIsPublishedCountsWithItsBytes() {
        var client = SocketIOClient(in: ["/"])
        let text =
            "451-[\"publish\",{\"topic\":\"shop:1\",\"event\":\"e\",\"data\":{\"a\":{\"_placeholder\":true,\"num\":0}}}]"
        #expect(client.says(text) == [])
        #expect(client.sends([1, 2]) == ["request 1 publish shop:1 e {\"a\":{\"$bytes\":\"AQI=\"}}"])
        #expect(client.says(text) == [])
        #expect(client.sends([UInt8](repeating: 0, count: 40)).first?.hasPrefix("refusal 1 too_large") == true)
    }

    // MARK: Polls

    @Test func framesWithAttachmentsCountAndAreTakenApart() {
        let frame = Array("452-[\"e\"]\u{1e}bAQID\u{1e}b".utf8)
        #expect(EnginePayload.packetCount(frame) == 3)
        #expect(
            EnginePayload.units(frame) == [
                WireUnit(.text, Array("452-[\"e\"]".utf8)), WireUnit(.binary, [1, 2, 3]), WireUnit(.binary, []),
            ])
        for text in ["42[\"e\"]", "2", "", "40{}"] {
            #expect(EnginePayload.packetCount(Array(text.utf8)) == 1)
            #expect(EnginePayload.units(Array(text.utf8)) == [WireUnit(.text, Array(text.utf8))])
        }
    }
}
