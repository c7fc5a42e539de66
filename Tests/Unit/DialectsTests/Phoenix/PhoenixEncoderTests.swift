import Core
import Dialects
import Testing

/// Events as Phoenix's clients get them, and which version a query asks for.
@Suite struct PhoenixEncoderTests {
    private static func event(
        _ encoder: PhoenixEventEncoder, _ topic: String, _ data: String, id: String? = nil, offset: Int? = nil
    ) throws -> [String] {
        let message = ChannelMessage(
            position: try offset.map { try Phoenix.position("k3x9", $0) }, event: try #require(EventName("greet")),
            id: try id.map { try #require(MessageID(Array($0.utf8))) }, data: Array(data.utf8))
        return encoder.event(try Phoenix.topic(topic), message).map(Phoenix.text)
    }

    @Test func eventsAreBroadcasts() throws {
        let payload = "{\"type\":\"broadcast\",\"event\":\"greet\",\"payload\":{\"hello\":\"w\"}}"
        for (topic, channel) in [("order:42", "realtime:order:42"), ("phoenix:room1", "realtime:room1")] {
            #expect(
                try Self.event(PhoenixEventEncoder(.v1), topic, "{\"hello\":\"w\"}")
                    == ["{\"topic\":\"\(channel)\",\"event\":\"broadcast\",\"payload\":\(payload),\"ref\":null}"])
            #expect(
                try Self.event(PhoenixEventEncoder(.v2), topic, "{\"hello\":\"w\"}")
                    == ["[null,null,\"\(channel)\",\"broadcast\",\(payload)]"])
        }
    }

    @Test func metaTellsThePositionAndTheID() throws {
        for (id, offset, meta) in [
            (nil, 18, "{\"epoch\":\"k3x9\",\"offset\":18}"), ("op-1", nil, "{\"id\":\"op-1\"}"),
            ("op-1", 18, "{\"id\":\"op-1\",\"epoch\":\"k3x9\",\"offset\":18}"),
        ] as [(String?, Int?, String)] {
            #expect(
                try Self.event(PhoenixEventEncoder(.v2), "order:42", "{}", id: id, offset: offset) == [
                    "[null,null,\"realtime:order:42\",\"broadcast\",{\"type\":\"broadcast\",\"event\":\"greet\","
                        + "\"payload\":{},\"meta\":\(meta)}]"
                ])
        }
    }

    /// The vector of the specification, but for the metadata: ours has what is known of the event.
    @Test func bytesAreABinaryFrameForTheNewerVersion() throws {
        let data = "{\"$bytes\":\"AQID\"}"
        #expect(
            try Self.event(PhoenixEventEncoder(.v2), "phoenix:room1", data)
                == ["bytes:040e050000" + "7265616c74696d653a726f6f6d31" + "6772656574" + "010203"])
        #expect(
            try Self.event(PhoenixEventEncoder(.v2), "phoenix:room1", data, id: "a")
                == [
                    "bytes:040e050a00" + "7265616c74696d653a726f6f6d31" + "6772656574" + "7b226964223a2261227d"
                        + "010203"
                ])
        #expect(
            try Self.event(PhoenixEventEncoder(.v1), "phoenix:room1", data) == [
                "{\"topic\":\"realtime:room1\",\"event\":\"broadcast\",\"payload\":{\"type\":\"broadcast\",\"event\":"
                    + "\"greet\",\"payload\":\(data)},\"ref\":null}"
            ])
    }

    @Test(arguments: [
        "{\"$bytes\":\"AQI\"}", "{\"$bytes\":\"AQID\",\"a\":1}", "{ \"$bytes\":\"AQID\"}", "{\"$bytes\":7}",
        "{\"$bytes\":\"\\u0041\"}", "{\"$bytes\":",
    ])
    func whatOnlyLooksLikeBytesIsText(_ data: String) throws {
        #expect(BytesObject.bytes(in: Array(data.utf8)) == nil)
        #expect(try Self.event(PhoenixEventEncoder(.v2), "order:42", data)[0].hasPrefix("[null"))
    }

    @Test func bytesKeepTheirValue() {
        for bytes in [[], [0], [255, 0], Array(0...255)] as [[UInt8]] {
            #expect(BytesObject.bytes(in: BytesObject.data(of: bytes)) == bytes)
        }
    }

    @Test func flattenedNamespacesHaveTheirMembersBesideTheWrapper() throws {
        let encoder = PhoenixEventEncoder(.v2, flattened: [Array("order".utf8)])
        let data = "{\"order_id\": 7,\"event\":\"x\",\"a\\nb\":[1, 2]}"
        #expect(
            try Self.event(encoder, "order:42", data) == [
                "[null,null,\"realtime:order:42\",\"broadcast\",{\"type\":\"broadcast\",\"event\":\"greet\",\"payload\":"
                    + "\(data),\"order_id\":7,\"a\\nb\":[1, 2]}]"
            ])
        #expect(!(try Self.event(encoder, "shop:42", data))[0].contains("\"order_id\":7,"))
    }

    @Test func encodersHaveNamesOfTheirOwn() {
        #expect(PhoenixEventEncoder(.v1).name == "phoenix-v1")
        #expect(PhoenixEventEncoder(.v2).name == "phoenix-v2")
    }

    @Test func theQueryChoosesTheVersion() {
        for (text, version) in [
            (nil, .v1), ("1.0.0", .v1), ("1.0.7", .v1), ("2.0.0", .v2), ("2.0.12", .v2), ("", nil), ("1", nil),
            ("3.0.0", nil), ("2.1.0", nil), ("2.0", nil), ("2.0.x", nil), ("2.0.0.0", nil), ("02.0.0", nil),
            ("2.0.00000", nil), (" 2.0.0", nil),
        ] as [(String?, PhoenixVersion?)] {
            #expect(PhoenixVersion(vsn: text.map { Array($0.utf8) }) == version, "\(text ?? "nil")")
        }
    }
}
