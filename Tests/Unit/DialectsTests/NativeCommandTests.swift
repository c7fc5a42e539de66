import Core
import Dialects
import Testing

/// Frames of clients that the dialect understands: every row of the protocol's table.
@Suite struct NativeCommandTests {
    @Test(arguments: [
        "{\"event\":\"subscribe\",\"data\":{\"topic\":\"shop:42\"}}",
        "{\"event\":\"subscribe\",\"data\":{\"shopId\":\"42\"}}",
        "{\"event\":\"subscribe\",\"data\":{\"shopId\":42}}",
        "{\"event\":\"subscribe\",\"topic\":\"shop:42\"}",
        "{\"event\":\"subscribe\",\"topic\":\"shop:42\",\"data\":{}}",
        "{\"event\":\"subscribe\",\"topic\":\"shop:42\",\"data\":null}",
        "{\"event\":\"subscribe\",\"topic\":\"shop:42\",\"data\":{\"topic\":\"shop:42\",\"shopId\":\"42\"}}",
        "{\"event\":\"subscribe\",\"topic\":null,\"data\":{\"topic\":null,\"shopId\":\"42\",\"userId\":null}}",
        "{\"event\":\"subscribe\",\"data\":{\"topic\":\"shop:42\",\"requestId\":{\"any\":1},\"userId\":\"u1\"}}",
        "{\"event\":\"subscribe\",\"data\":{\"topics\":[\"shop:42\"]}}",
        "{\"event\":\"subscribe\",\"data\":{\"topics\":[{\"shopId\":\"42\",\"since\":null}],\"topic\":null,\"since\":null}}",
        "{\"event\":\"subscribe\",\"data\":{\"topic\":\"shop:42\",\"since\":null}}",
        "{ \"data\" : { \"\\u0073hopId\" : \"4\\u0032\" } , \"event\" : \"sub\\u0073cribe\" , \"unknown\":[1] }",
    ])
    func everySpellingOfOneTopic(_ text: String) throws {
        let request = SubscribeRequest(topic: try Native.topic("shop:42"), since: nil)
        #expect(try Native.command(text) == .subscribe([request]))
        let leave = text.replacing("sub\\u0073cribe", with: "unsubscribe").replacing(
            "\"subscribe", with: "\"unsubscribe")
        #expect(try Native.command(leave) == .unsubscribe([request.topic]))
    }

    @Test func aPositionIsRead() throws {
        let text =
            "{\"event\":\"subscribe\",\"data\":{\"shopId\":\"42\",\"since\":{\"epoch\":\"k3x9\",\"offset\":12}},\"ref\":2}"
        let since = try Native.position("k3x9", 12)
        #expect(
            try Native.command(text) == .subscribe([SubscribeRequest(topic: try Native.topic("shop:42"), since: since)])
        )
    }

    @Test func aBatchKeepsItsOrderAndPositions() throws {
        let text =
            "{\"event\":\"subscribe\",\"data\":{\"topics\":[\"shop:42\","
            + "{\"topic\":\"dj:42\",\"since\":{\"epoch\":\"a\",\"offset\":0}},{\"orderItemId\":7}]}}"
        #expect(
            try Native.command(text)
                == .subscribe([
                    SubscribeRequest(topic: try Native.topic("shop:42"), since: nil),
                    SubscribeRequest(topic: try Native.topic("dj:42"), since: try Native.position("a", 0)),
                    SubscribeRequest(topic: try Native.topic("order-item:7"), since: nil),
                ]))
        let leave = "{\"event\":\"unsubscribe\",\"data\":{\"topics\":[\"shop:42\",\"dj:42\"]}}"
        #expect(try Native.command(leave) == .unsubscribe([try Native.topic("shop:42"), try Native.topic("dj:42")]))
    }

    /// Starscream's `write(data:)` sends bytes, and every message of such a client was refused.
    @Test func bytesThatAreTextAreRead() throws {
        for text in ["{\"event\":\"ping\"}", "{\"event\":\"vote\",\"data\":{\"trackId\":\"caf\u{e9}\"},\"ref\":\"1\"}"]
        {
            let bytes = Array(text.utf8)
            #expect(Native.dialect.decode(bytes, as: .binary) == Native.dialect.decode(bytes, as: .text))
            #expect(try Native.dialect.decode(bytes, as: .binary).get() == Native.dialect.decode(bytes).get())
        }
    }

    /// The app's own backend takes the bare token as `data`, and the gateway refused it.
    @Test func aBareTokenIsRead() throws {
        #expect(
            try Native.command("{\"event\":\"authenticate\",\"data\":\"a.b-c_d\"}")
                == .authenticate(token: Array("a.b-c_d".utf8)))
    }

    @Test func aTokenIsReadUnchecked() throws {
        #expect(
            try Native.command("{\"event\":\"authenticate\",\"data\":{\"token\":\"a.b-c_d\"},\"ref\":1}")
                == .authenticate(token: Array("a.b-c_d".utf8)))
        #expect(
            try Native.command("{\"event\":\"authenticate\",\"data\":{\"token\":\"\"}}") == .authenticate(token: []))
    }

    @Test func aPublishCarriesItsExactData() throws {
        let event = try #require(EventName("typing"))
        let id = try #require(MessageID(Array("op-1".utf8)))
        let topic = try Native.topic("session:7")
        let full =
            "{\"event\":\"publish\",\"topic\":\"session:7\",\"data\":{\"event\":\"typing\",\"data\":{ \"a\" : 1.0 },\"id\":\"op-1\"}}"
        #expect(
            try Native.command(full)
                == .publish(PublishRequest(topic: topic, event: event, data: Array("{ \"a\" : 1.0 }".utf8), id: id)))
        for bare in ["", ",\"data\":null", ",\"id\":null", ",\"data\":{}"] {
            let text = "{\"event\":\"publish\",\"data\":{\"sessionId\":\"7\",\"event\":\"typing\"\(bare)}}"
            #expect(
                try Native.command(text)
                    == .publish(PublishRequest(topic: topic, event: event, data: Array("{}".utf8), id: nil)))
        }
    }

    @Test func aPublishIsBoundedAtTheLimitAndNotBefore() throws {
        func text(_ count: Int) -> String {
            "{\"event\":\"publish\",\"topic\":\"session:7\",\"ref\":1,\"data\":{\"event\":\"e\",\"data\":{\"a\":\""
                + String(repeating: "x", count: count - 8) + "\"}}}"
        }
        guard case .publish(let request) = try Native.command(text(40)) else { throw Refusal(.internalError, "") }
        #expect(request.data.count == 40)
        let refusal = try Native.refusal(text(41))
        #expect(refusal.refusal.code == .tooLarge)
        #expect(refusal.ref == (try Native.reference("1")))
    }

    @Test(arguments: [
        (
            "{\"event\":\"vote\",\"data\":{\"shopId\":\"42\",\"trackId\":\"t1\",\"vote\":\"up\"}}", "vote",
            "{\"shopId\":\"42\",\"trackId\":\"t1\",\"vote\":\"up\"}"
        ),
        ("{\"event\":\"add_track\"}", "add_track", "{}"), ("{\"event\":\"x\",\"data\":null}", "x", "{}"),
        ("{\"event\":\"x\",\"data\":{ }}", "x", "{ }"), ("{\"event\":\"Subscribe\",\"data\":{}}", "Subscribe", "{}"),
        ("{\"event\":\"subscribed\",\"data\":{}}", "subscribed", "{}"),
        ("{\"event\":\"queue:update\",\"topic\":null}", "queue:update", "{}"),
    ])
    func anyOtherNameIsACommand(_ text: String, _ name: String, _ arguments: String) throws {
        guard case .command(let read, let found) = try Native.command(text) else { throw Refusal(.internalError, "") }
        #expect(read == name && found.raw == Array(arguments.utf8))
    }

    @Test func aPingIsAPing() throws {
        #expect(try Native.command("{\"event\":\"ping\",\"ref\":5}") == .ping)
        #expect(try Native.command("{\"event\":\"ping\",\"data\":{\"t\":1},\"topic\":\"shop:42\"}") == .ping)
    }

    @Test(arguments: [
        "1", "0", "-1", "1.0", "1e5", "\"\"", "\"a\"", "\"\\u0041\\n\"", "\"é\"", "12345678901234567890123",
        "\"" + String(repeating: "r", count: 62) + "\"",
    ])
    func referencesComeBackAsTheyWere(_ ref: String) throws {
        let request = try Native.decode("{\"event\":\"ping\",\"ref\": \(ref) }").get()
        #expect(request.ref == (try Native.reference(ref)))
        #expect(Native.encode(.pong, request.ref) == "{\"event\":\"pong\",\"ref\":\(ref)}")
    }

    @Test func noReferenceIsNoReference() throws {
        #expect(try Native.decode("{\"event\":\"ping\"}").get().ref == nil)
        #expect(try Native.decode("{\"event\":\"ping\",\"ref\":null}").get().ref == nil)
    }
}
