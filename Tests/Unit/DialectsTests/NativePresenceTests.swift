import Core
import Dialects
import Testing

/// Who is here, in the native protocol.
@Suite struct NativePresenceTests {
    private func member(_ number: Int, user: String?, revision: Int = 1) -> PresenceMember {
        PresenceMember(
            id: PresenceID(node: Array("n".utf8), shard: 0, number: number), key: Array("k\(number)".utf8),
            user: user.map { Array($0.utf8) }, meta: Array("{\"r\":\(revision)}".utf8), revision: revision)
    }

    @Test func aSubscribeAsksWhoIsHere() throws {
        let shop = try Native.topic("shop:1")
        for (text, presence) in [
            ("{\"topic\":\"shop:1\",\"presence\":true}", true), ("{\"topic\":\"shop:1\",\"presence\":null}", false),
            ("{\"topics\":[\"shop:1\"],\"presence\":true}", true), ("{\"topics\":[\"shop:1\"]}", false),
            ("{\"topics\":[{\"topic\":\"shop:1\",\"presence\":true}]}", true),
            ("{\"topics\":[{\"topic\":\"shop:1\",\"presence\":false}],\"presence\":true}", false),
        ] {
            #expect(
                try Native.command("{\"event\":\"subscribe\",\"data\":\(text)}")
                    == .subscribe([SubscribeRequest(topic: shop, since: nil, presence: presence)]), "\(text)")
        }
        let wrong = try Native.refusal("{\"event\":\"subscribe\",\"data\":{\"topic\":\"shop:1\",\"presence\":1}}")
        #expect(wrong.refusal.message == "\"presence\" must be true or false.")
    }

    @Test func aClientSaysWhatItIs() throws {
        let shop = try Native.topic("shop:1")
        #expect(
            try Native.command("{\"event\":\"track\",\"data\":{\"shopId\":1,\"meta\":{\"a\":1,\"phx_user\":\"x\"}}}")
                == .track(TrackRequest(topic: shop, key: .user, meta: Array("{\"a\":1}".utf8))))
        #expect(
            try Native.command("{\"event\":\"track\",\"topic\":\"shop:1\"}")
                == .track(TrackRequest(topic: shop, key: .user, meta: Array("{}".utf8))))
        #expect(try Native.command("{\"event\":\"untrack\",\"data\":{\"topic\":\"shop:1\"}}") == .untrack(shop))
        for text in [
            "{\"event\":\"track\",\"data\":{\"meta\":{}}}", "{\"event\":\"untrack\"}",
            "{\"event\":\"track\",\"data\":{\"topic\":\"shop:1\",\"meta\":[]}}",
        ] {
            #expect(try Native.refusal(text).refusal.code == .badRequest, "\(text)")
        }
    }

    @Test func whoIsHereIsTold() throws {
        let shop = try Native.topic("shop:1")
        let encoder = NativeEventEncoder()
        let list = try #require(encoder.presence(shop, [member(1, user: "u1"), member(2, user: nil)]))
        let (one, two) = (
            "{\"id\":\"n.0.1\",\"user\":\"u1\",\"key\":\"k1\",\"meta\":{\"r\":1}}",
            "{\"id\":\"n.0.2\",\"user\":null,\"key\":\"k2\",\"meta\":{\"r\":1}}"
        )
        #expect(
            Native.encode(.presence(topic: shop, members: list))
                == "{\"event\":\"presence\",\"topic\":\"shop:1\",\"data\":{\"topic\":\"shop:1\",\"shopId\":\"1\","
                + "\"members\":[\(one),\(two)]}}")
        let change = PresenceChange(
            joins: [member(1, user: "u1", revision: 2), member(2, user: nil)],
            leaves: [member(1, user: "u1"), member(3, user: "u3")])
        #expect(
            encoder.presence(shop, change).map { String(decoding: $0.bytes, as: UTF8.self) } == [
                "{\"topic\":\"shop:1\",\"event\":\"presence\",\"data\":{\"topic\":\"shop:1\",\"shopId\":\"1\",\"joins\":[\(two)],"
                    + "\"updates\":[{\"id\":\"n.0.1\",\"user\":\"u1\",\"key\":\"k1\",\"meta\":{\"r\":2}}],"
                    + "\"leaves\":[{\"id\":\"n.0.3\",\"user\":\"u3\",\"key\":\"k3\"}]}}"
            ])
    }

    /// A publisher could have told subscribers who is here.
    @Test func noPublisherSaysWhoIsHere() throws {
        #expect(EventName("presence")?.isReserved == true)
        let shop = try Native.topic("shop:1")
        #expect(Native.encode(.presence(topic: shop, members: nil)).contains("\"code\":\"not_found\""))
    }
}
