import Core
import Dialects
import TestSupport
import Testing

/// What the gateway says: acknowledgements, its own events, and events of topics.
@Suite struct SocketIOAnswerTests {
    private static func answers() throws -> [(ServerMessage, ack: String, event: String?)] {
        let shop = try Native.topic("shop:42")
        let at = try Native.position("k3x9", 17)
        let spelled = "\"topic\":\"shop:42\",\"shopId\":\"42\""
        return [
            (
                .authenticated(userID: Array("u\"1".utf8), expiresAt: 99), "{\"userId\":\"u\\\"1\",\"expiresAt\":99}",
                "authenticated"
            ),
            (
                .subscribed(topic: shop, position: at, recovered: false, state: Array("{\"n\":1}".utf8)),
                "{\(spelled),\"epoch\":\"k3x9\",\"offset\":17,\"recovered\":false,\"state\":{\"n\":1}}", "subscribed"
            ),
            (
                .subscribed(topic: shop, position: at, recovered: true, state: nil),
                "{\(spelled),\"epoch\":\"k3x9\",\"offset\":17,\"recovered\":true}", "subscribed"
            ),
            (.unsubscribed(topic: shop), "{\(spelled)}", "unsubscribed"),
            (.ack(data: Array("{\"ok\": true}".utf8)), "{\"ok\": true}", nil),
            (.published(position: at), "{\"epoch\":\"k3x9\",\"offset\":17}", nil), (.pong, "{}", "pong"),
            (.draining(reconnectAfterMs: 1800), "{\"reconnectAfterMs\":1800}", "draining"),
            (.tokenExpiring(expiresAt: 99), "{\"expiresAt\":99}", "token:expiring"),
            (
                .warning(code: .rateLimited, message: "Slow \"down\".", perSecond: 50),
                "{\"code\":\"rate_limited\",\"message\":\"Slow \\\"down\\\".\",\"perSecond\":50}", "warning"
            ),
            (
                .gap(topic: shop, position: at, reason: .missed),
                "{\(spelled),\"epoch\":\"k3x9\",\"offset\":17,\"reason\":\"missed\"}", "gap"
            ),
            (.gap(topic: shop, position: nil, reason: .conflated), "{\(spelled),\"reason\":\"conflated\"}", "gap"),
        ]
    }

    @Test func everyAnswerIsTheAcknowledgementThatWasAskedFor() throws {
        for (message, ack, _) in try Self.answers() {
            var client = SocketIOClient(in: ["/queue"])
            _ = client.says("42/queue,13[\"vote\"]")
            #expect(client.told(message) == ["43/queue,13[\(ack)]"])
        }
    }

    /// A client that asked for no acknowledgement hears what the native dialect says; a command's answer it did not want.
    @Test func everyAnswerWithoutAcknowledgementIsAnEventOrNothing() throws {
        for (message, argument, event) in try Self.answers() {
            var client = SocketIOClient(in: ["/queue"])
            _ = client.says("42/queue,[\"vote\"]")
            #expect(client.told(message) == (event.map { ["42/queue,[\"\($0)\",\(argument)]"] } ?? []))
        }
    }

    @Test func anErrorHasOneShapeInBoth() throws {
        let shop = try Native.topic("shop:42")
        let error = ServerMessage.error(code: "too_far", message: "Be there.", topic: shop, retryAfterMs: 5)
        let shape = "{\"code\":\"too_far\",\"message\":\"Be there.\",\"topic\":\"shop:42\",\"retryAfterMs\":5}"
        var client = SocketIOClient(in: ["/"])
        _ = client.says("420[\"vote\"]")
        #expect(client.told(error) == ["430[{\"error\":\(shape)}]"])
        _ = client.says("42[\"vote\"]")
        #expect(client.told(error) == ["42[\"error\",\(shape)]"])
    }

    @Test func whatConcernsTheConnectionIsToldInEachNamespace() {
        var client = SocketIOClient(in: ["/queue", "/", "/dj"])
        client.opensDoors = false
        _ = client.says("40/social")
        #expect(
            client.told(.draining(reconnectAfterMs: 9), at: .main) == [
                "42[\"draining\",{\"reconnectAfterMs\":9}]", "42/queue,[\"draining\",{\"reconnectAfterMs\":9}]",
                "42/dj,[\"draining\",{\"reconnectAfterMs\":9}]",
            ])
    }

    // MARK: Several topics

    @Test func severalTopicsAreOneAcknowledgementInTheOrderOfTheRequest() throws {
        let (shop, dj) = (try Native.topic("shop:42"), try Native.topic("dj:42"))
        let at = try Native.position("k", 3)
        var client = SocketIOClient(in: ["/queue"])
        #expect(
            client.says("42/queue,8[\"subscribe\",{\"topics\":[\"shop:42\",\"dj:42\"]}]")
                == ["request 1 subscribe shop:42 dj:42"])
        // The state goes at once: the topic's events follow it.
        #expect(
            client.told(.subscribed(topic: dj, position: at, recovered: false, state: Array("{\"n\":1}".utf8))) == [
                "42/queue,[\"subscribed\",{\"topic\":\"dj:42\",\"djId\":\"42\",\"epoch\":\"k\",\"offset\":3,"
                    + "\"recovered\":false,\"state\":{\"n\":1}}]"
            ])
        #expect(
            client.told(.error(Refusal(.forbidden, "No."), topic: shop)) == [
                "43/queue,8[{\"topics\":[{\"error\":{\"code\":\"forbidden\",\"message\":\"No.\",\"topic\":\"shop:42\"}},"
                    + "{\"topic\":\"dj:42\",\"djId\":\"42\",\"epoch\":\"k\",\"offset\":3,\"recovered\":false}]}]"
            ])
        // It was sent once.
        #expect(client.told(.error(Refusal(.forbidden, "No."), topic: dj)) == [])
    }

    @Test func severalTopicsAreLeftWithOneAcknowledgement() throws {
        var client = SocketIOClient(in: ["/"])
        _ = client.says("428[\"unsubscribe\",{\"topics\":[\"shop:1\",\"dj:1\"]}]")
        #expect(client.told(.unsubscribed(topic: try Native.topic("shop:1"))) == [])
        #expect(
            client.told(.unsubscribed(topic: try Native.topic("dj:1"))) == [
                "438[{\"topics\":[{\"topic\":\"shop:1\",\"shopId\":\"1\"},{\"topic\":\"dj:1\",\"djId\":\"1\"}]}]"
            ])
    }

    /// A list of one topic was answered as if the topic had been named alone: a client that asks for what it lacks failed.
    @Test func aListOfOneTopicIsAnsweredByAList() throws {
        var client = SocketIOClient(in: ["/"])
        #expect(client.says("428[\"subscribe\",{\"topics\":[\"dj:1\"]}]") == ["request 1 subscribe dj:1"])
        let at = try Native.position("k", 3)
        let joined = "{\"topic\":\"dj:1\",\"djId\":\"1\",\"epoch\":\"k\",\"offset\":3,\"recovered\":false}"
        #expect(
            client.told(.subscribed(topic: try Native.topic("dj:1"), position: at, recovered: false, state: nil)) == [
                "42[\"subscribed\",\(joined)]", "438[{\"topics\":[\(joined)]}]",
            ])
        _ = client.says("429[\"unsubscribe\",{\"topics\":[\"dj:1\"]}]")
        #expect(
            client.told(.unsubscribed(topic: try Native.topic("dj:1"))) == [
                "439[{\"topics\":[{\"topic\":\"dj:1\",\"djId\":\"1\"}]}]"
            ])
    }

    @Test func aBatchThatIsRefusedAsAWholeIsAcknowledgedOnce() throws {
        var client = SocketIOClient(in: ["/"])
        _ = client.says("428[\"subscribe\",{\"topics\":[\"shop:1\",\"dj:1\"]}]")
        let refusal = Refusal(.rateLimited, "Slower.", retryAfterMs: 7)
        #expect(
            client.told(.error(refusal, topic: nil)) == [
                "438[{\"error\":{\"code\":\"rate_limited\",\"message\":\"Slower.\",\"retryAfterMs\":7}}]"
            ])
        #expect(client.told(.error(refusal, topic: nil)) == [])
    }

    @Test func severalTopicsWithoutAcknowledgementAreEvents() throws {
        var client = SocketIOClient(in: ["/"])
        _ = client.says("42[\"subscribe\",{\"topics\":[\"shop:1\",\"dj:1\"]}]")
        #expect(
            client.told(.unsubscribed(topic: try Native.topic("shop:1"))) == [
                "42[\"unsubscribed\",{\"topic\":\"shop:1\",\"shopId\":\"1\"}]"
            ])
        #expect(
            client.told(.error(Refusal(.forbidden, "No."), topic: try Native.topic("dj:1"))) == [
                "42[\"error\",{\"code\":\"forbidden\",\"message\":\"No.\",\"topic\":\"dj:1\"}]"
            ])
    }

    /// Answers that never come would otherwise be waited for without end.
    @Test func batchesThatWaitAreBoundedAndEndWithTheirNamespace() {
        var client = SocketIOClient(in: ["/"])
        let batch = "[\"subscribe\",{\"topics\":[\"shop:1\",\"dj:1\"]}]"
        for number in 0..<16 {
            #expect(client.says("42\(number)" + batch) == ["request 1 subscribe shop:1 dj:1"])
        }
        #expect(client.says("4216" + batch).first?.hasPrefix("refusal 1 rate_limited ") == true)
        #expect(client.says("42" + batch) == ["request 1 subscribe shop:1 dj:1"])
        #expect(client.says("41") == ["end 1"])
        _ = client.says("40")
        #expect(client.says("4216" + batch) == ["request 2 subscribe shop:1 dj:1"])
    }

    // MARK: Operations

    @Test func theSameNumberOfTwoNamespacesIsTwoOperations() throws {
        var client = SocketIOClient(in: ["/", "/queue"])
        var names: Set<OperationName> = []
        for text in ["421[\"vote\"]", "42/queue,1[\"vote\"]", "422[\"vote\"]"] {
            _ = client.says(text)
            names.insert(try #require(client.operation))
        }
        #expect(names.count == 3)
        _ = client.says("42[\"vote\"]")
        #expect(client.ref == nil)
    }

    // MARK: Events of topics

    @Test func anEventIsNameAndDataAndWithPositionsAlsoItsPlace() throws {
        let encoders = SocketIO.dialect.encoders
        #expect(Set(encoders.map(\.name)).count == 2 * StandardTables.socketIONamespaces.count)
        let topic = try Native.topic("shop:42")
        let name = try #require(EventName("queue:update"))
        let placed = ChannelMessage(
            position: try Native.position("k3x9", 18), event: name, id: nil, data: Array("{\"n\":1}".utf8))
        let plain = ChannelMessage(position: nil, event: name, id: nil, data: Array("{}".utf8))
        var client = SocketIOClient(in: ["/"])
        _ = client.says("40/queue,{\"positions\":true}")
        _ = client.says("40/dj,{\"positions\":false}")
        let texts = [1, 2, 3].map { sessionID in
            let encoder = encoders[client.machine.encoder(of: SessionID(sessionID))]
            return [encoder.event(topic, placed), encoder.event(topic, plain), encoder.gap(topic, nil, .missed)]
                .map { units in
                    units.map { ($0.kind == .text ? "" : "bytes ") + SocketIO.text($0.bytes) }.joined(separator: "|")
                }
        }
        let gap = "[\"gap\",{\"topic\":\"shop:42\",\"shopId\":\"42\",\"reason\":\"missed\"}]"
        #expect(
            texts == [
                ["42[\"queue:update\",{\"n\":1}]", "42[\"queue:update\",{}]", "42" + gap],
                [
                    "42/queue,[\"queue:update\",{\"n\":1},{\"topic\":\"shop:42\",\"epoch\":\"k3x9\",\"offset\":18}]",
                    "42/queue,[\"queue:update\",{},{\"topic\":\"shop:42\"}]", "42/queue," + gap,
                ],
                ["42/dj,[\"queue:update\",{\"n\":1}]", "42/dj,[\"queue:update\",{}]", "42/dj," + gap],
            ])
    }

    @Test(arguments: [
        ("/", true), ("/queue", true), ("/a.b_c-9", true), ("/\(String(repeating: "a", count: 32))", true), ("", false),
        ("queue", false), ("/a,b", false), ("/a b", false), ("/a\"", false), ("/a/b", false), ("/é", false),
        ("/\(String(repeating: "a", count: 33))", false),
    ])
    func namesOfNamespacesAreSafeToWriteAsTheyAre(_ name: String, _ isOne: Bool) {
        #expect(SocketIODialect.isNamespace(name) == isOne)
    }
}
