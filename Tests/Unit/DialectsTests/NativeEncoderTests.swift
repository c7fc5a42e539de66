import Core
import Dialects
import Testing

/// The exact bytes the gateway sends.
@Suite struct NativeEncoderTests {
    @Test func repliesAreExact() throws {
        let shop = try Native.topic("shop:42")
        let position = try Native.position("k3x9", 17)
        let one = try Native.reference("1")
        let state = Array("{\"n\":1}".utf8)
        let named = "\"data\":{\"topic\":\"shop:42\",\"shopId\":\"42\""
        #expect(
            Native.encode(.authenticated(userID: Array("u1".utf8), expiresAt: 1_795_205_000), one)
                == "{\"event\":\"authenticated\",\"data\":{\"userId\":\"u1\",\"expiresAt\":1795205000},\"ref\":1}")
        #expect(
            Native.encode(
                .subscribed(topic: shop, position: position, recovered: false, state: state), try Native.reference("2"))
                == "{\"event\":\"subscribed\",\"topic\":\"shop:42\",\(named),\"epoch\":\"k3x9\",\"offset\":17,\"recovered\":false,\"state\":{\"n\":1}},\"ref\":2}"
        )
        #expect(
            Native.encode(.subscribed(topic: shop, position: position, recovered: true, state: nil))
                == "{\"event\":\"subscribed\",\"topic\":\"shop:42\",\(named),\"epoch\":\"k3x9\",\"offset\":17,\"recovered\":true}}"
        )
        #expect(
            Native.encode(.unsubscribed(topic: shop), try Native.reference("\"a\""))
                == "{\"event\":\"unsubscribed\",\"topic\":\"shop:42\",\(named)},\"ref\":\"a\"}")
        #expect(Native.encode(.ack(data: state), one) == "{\"event\":\"ack\",\"data\":{\"n\":1},\"ref\":1}")
        #expect(
            Native.encode(.published(position: position), one)
                == "{\"event\":\"ack\",\"data\":{\"epoch\":\"k3x9\",\"offset\":17},\"ref\":1}")
        #expect(Native.encode(.pong) == "{\"event\":\"pong\"}")
        #expect(Native.encode(.pong, try Native.reference("5")) == "{\"event\":\"pong\",\"ref\":5}")
    }

    @Test func pushesAreExact() throws {
        let shop = try Native.topic("shop:42")
        let name = try #require(EventName("queue:update"))
        let data = Array("{\"queueLength\":3}".utf8)
        #expect(
            Native.event(shop, name, data, try Native.position("k", 18))
                == "{\"topic\":\"shop:42\",\"event\":\"queue:update\",\"data\":{\"queueLength\":3},\"offset\":18}")
        #expect(
            Native.event(shop, name, data, nil)
                == "{\"topic\":\"shop:42\",\"event\":\"queue:update\",\"data\":{\"queueLength\":3}}")
        #expect(
            Native.encode(.gap(topic: shop, position: try Native.position("k", 9), reason: .conflated))
                == "{\"event\":\"gap\",\"topic\":\"shop:42\",\"data\":{\"epoch\":\"k\",\"offset\":9,\"reason\":\"conflated\"}}"
        )
        #expect(
            Native.encode(.gap(topic: shop, position: nil, reason: .missed))
                == "{\"event\":\"gap\",\"topic\":\"shop:42\",\"data\":{\"reason\":\"missed\"}}")
        #expect(
            Native.encode(.draining(reconnectAfterMs: 1_800))
                == "{\"event\":\"draining\",\"data\":{\"reconnectAfterMs\":1800}}")
        #expect(
            Native.encode(.tokenExpiring(expiresAt: 5)) == "{\"event\":\"token:expiring\",\"data\":{\"expiresAt\":5}}")
        #expect(
            Native.encode(.error(Refusal(.forbidden, "No \"entry\".\n"), topic: nil), try Native.reference("3"))
                == "{\"event\":\"error\",\"data\":{\"code\":\"forbidden\",\"message\":\"No \\\"entry\\\".\\n\"},\"ref\":3}"
        )
        #expect(
            Native.encode(.error(Refusal(.rateLimited, "Wait.", retryAfterMs: 20), topic: nil))
                == "{\"event\":\"error\",\"data\":{\"code\":\"rate_limited\",\"message\":\"Wait.\",\"retryAfterMs\":20}}"
        )
        #expect(
            Native.encode(.warning(code: .rateLimited, message: "Slow down.", perSecond: 50))
                == "{\"event\":\"warning\",\"data\":{\"code\":\"rate_limited\",\"message\":\"Slow down.\",\"perSecond\":50}}"
        )
        #expect(
            Native.encode(.error(code: "not_present", message: "Must be at shop to vote", topic: shop))
                == "{\"event\":\"error\",\"topic\":\"shop:42\",\"data\":{\"code\":\"not_present\",\"message\":\"Must be at shop to vote\"}}"
        )
    }

    @Test func everyMessageIsOneJSONObjectWhateverItCarries() throws {
        let topic = try #require(Topic("a-b:" + String(repeating: "~", count: 200)))
        let position = try #require(Position(epoch: [UInt8](repeating: 0x2d, count: 32), offset: Int.max))
        let hostile = "\"\\\u{0}\u{1f}\u{7f}\r\n\u{2028}é😀</script>"
        let messages: [ServerMessage] =
            [
                .authenticated(userID: Array(hostile.utf8), expiresAt: Int.min),
                .subscribed(topic: topic, position: position, recovered: true, state: Array("null".utf8)),
                .unsubscribed(topic: topic), .ack(data: Array("{}".utf8)), .published(position: position), .pong,
                .draining(reconnectAfterMs: Int.max), .tokenExpiring(expiresAt: -1),
                .error(code: hostile, message: hostile, topic: topic, retryAfterMs: Int.max),
                .warning(code: .rateLimited, message: hostile, perSecond: Int.min),
            ] + GapReason.allCases.map { .gap(topic: topic, position: position, reason: $0) }
        for message in messages {
            for ref in [nil, try Native.reference("\"\\u0000\"")] {
                let bytes = Native.dialect.encode(message, ref: ref)
                let root = try JSON(parsing: bytes, limits: JSON.Limits(depthMax: 4, elementsMax: 20)).root
                #expect(root["event"]?.string != nil)
                #expect(root["ref"].map { Array($0.raw) } == ref?.bytes)
                if case .error = message { #expect(root["data"]?["message"]?.string == hostile) }
                if case .authenticated = message { #expect(root["data"]?["userId"]?.string == hostile) }
            }
        }
    }

    @Test func everyEventIsOneJSONObject() throws {
        let topic = try #require(Topic("a-b:" + String(repeating: "~", count: 200)))
        let name = try #require(EventName(String(repeating: "/", count: 64)))
        for position in [nil, try Native.position("e", Int.max)] {
            let text = Native.event(topic, name, Array("{}".utf8), position)
            let root = try JSON(parsing: Array(text.utf8), limits: JSON.Limits(depthMax: 4, elementsMax: 20)).root
            #expect(root["event"]?.stringBytes == name.bytes && root["topic"]?.stringBytes == topic.bytes)
            #expect(root["offset"].map { String(decoding: $0.raw, as: UTF8.self) } == position.map { "\($0.offset)" })
        }
    }

    @Test func everyWordOfTheGatewayIsReserved() throws {
        let topic = try Native.topic("a:1")
        let position = try Native.position("e", 1)
        let messages: [ServerMessage] = [
            .authenticated(userID: [], expiresAt: 0),
            .subscribed(topic: topic, position: position, recovered: false, state: nil), .unsubscribed(topic: topic),
            .ack(data: Array("{}".utf8)), .published(position: position), .pong,
            .gap(topic: topic, position: nil, reason: .reset),
            .draining(reconnectAfterMs: 0), .tokenExpiring(expiresAt: 0), .error(code: "", message: "", topic: nil),
            .warning(code: .rateLimited, message: "", perSecond: 1),
        ]
        for message in messages {
            let bytes = Native.dialect.encode(message, ref: nil)
            let root = try JSON(parsing: bytes, limits: JSON.Limits(depthMax: 4, elementsMax: 20)).root
            let name = try #require(EventName(root["event"]?.stringBytes ?? []))
            #expect(name.isReserved, "\(name)")
        }
    }
}
