import Testing

@testable import Core

@Suite struct KeysTests {
    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test(arguments: ["", "app1:", "a.b_c-"])
    func namesAreTheTopicAndAFacet(_ prefix: String) throws {
        let keys = Keys(prefix: Array(prefix.utf8))
        let topic = try #require(Topic("shop:42"))
        let id = try #require(MessageID(Array("op-1".utf8)))
        #expect(text(keys.channel(topic)) == prefix + "shop:42")
        #expect(text(keys.log(topic)) == prefix + "shop:42#log")
        #expect(text(keys.meta(topic)) == prefix + "shop:42#meta")
        #expect(text(keys.members(topic)) == prefix + "shop:42#members")
        #expect(text(keys.seen(topic, owner: Array("user:u1".utf8), id)) == prefix + "shop:42#seen#user:u1#op-1")
        #expect(text(keys.queue(shop: topic.id)) == prefix + "queue:42")
        #expect(keys.topic(ofChannel: keys.channel(topic)) == topic)
    }

    @Test func foreignChannelsAreNoTopics() {
        let keys = Keys(prefix: Array("app1:".utf8))
        for channel in [
            "shop:42", "app2:shop:42", "app1:", "app1", "", "app1:shop", "app1:shop:42#log", "__keyspace@0__:x",
        ] {
            #expect(keys.topic(ofChannel: Array(channel.utf8)) == nil, "\(channel)")
        }
    }

    @Test func noTopicOrMessageIDReachesAnothersKey() throws {
        let keys = Keys(prefix: [])
        let topics = ["shop:42", "shop:42:log", "shop:42~log", "shop:42.meta", "queue:42", "shop:4"].compactMap {
            Topic($0)
        }
        let ids = ["log", "meta", "seen", "a:b", "--"].compactMap { MessageID(Array($0.utf8)) }
        var all: [[UInt8]] = []
        for topic in topics {
            all += [keys.channel(topic), keys.log(topic), keys.meta(topic), keys.members(topic)]
            for owner in ["user:u1", "key:u1", "worker"] {
                all += ids.map { keys.seen(topic, owner: Array(owner.utf8), $0) }
            }
        }
        #expect(topics.count == 6 && ids.count == 5)
        #expect(Set(all).count == all.count)
    }
}
