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
        #expect(keys.topic(ofChannel: keys.channel(topic)) == topic)
    }

    @Test(arguments: ["", "app1:"])
    func onTaggedNamesTheIDIsTheHashTag(_ prefix: String) throws {
        let keys = Keys(prefix: Array(prefix.utf8), layout: .tagged)
        let topic = try #require(Topic("shop:a:42"))
        let id = try #require(MessageID(Array("op-1".utf8)))
        #expect(text(keys.channel(topic)) == prefix + "shop:{a:42}")
        #expect(text(keys.log(topic)) == prefix + "shop:{a:42}#log")
        #expect(text(keys.seen(topic, owner: Array("user:u1".utf8), id)) == prefix + "shop:{a:42}#seen#user:u1#op-1")
        #expect(text(keys.domain(topic, facet: "votes", member: Array("}{".utf8))) == prefix + "shop:{a:42}#votes#}{")
        #expect(keys.topic(ofChannel: keys.channel(topic)) == topic)
        let all = [
            keys.workers, keys.leases, keys.removed, keys.outbox, keys.outboxFigures, keys.calls(of: "x"),
            keys.node([97]),
        ]
        #expect(text(all[0]) == prefix + "{sb}#workers" && text(keys.probe("n")) == prefix + "{sb}#probe:n")
        #expect(Set(all.map { HashSlot.of($0) }).count == 1)
        let own = [keys.channel(topic), keys.log(topic), keys.fence(topic)]
        #expect(
            Set((own + [keys.outbox(keys.outbox(of: topic, payer: [1], isFollowUp: true))]).map { HashSlot.of($0) })
                .count == 1)
    }

    @Test func onTaggedNamesOtherNamesAreNoTopics() {
        let keys = Keys(prefix: [], layout: .tagged)
        for channel in [
            "shop:42", "shop:{42", "shop:42}", "shop:{}", "shop:{", "shop:}{", "shop:{{42}}", "shop:{4}2}", "{shop:42}",
            "shop{:42}", "shop:x{42}", "shop:{42}#log", "{sb}#outbox", "shop", "",
        ] {
            #expect(keys.topic(ofChannel: Array(channel.utf8)) == nil, "\(channel)")
        }
    }

    /// Each slot has lanes of its own, whose names lead back to them and to no others.
    @Test func everySlotHasItsLanesOfTheOutbox() throws {
        let keys = Keys(prefix: Array("p:".utf8), layout: .tagged)
        let streams = (0..<keys.outboxSlots).flatMap {
            $0 % 97 == 0 || $0 == keys.commonSlot ? OutboxStream.all(of: $0) : []
        }
        let names = streams.map { keys.outbox($0) }
        #expect(keys.outboxSlots == HashSlot.count && Set(names).count == names.count)
        for (stream, name) in zip(streams, names) {
            #expect(HashSlot.of(name) == stream.slot && HashSlot.of(keys.outboxPayers(stream)) == stream.slot)
            #expect(keys.outboxStream(name) == stream && keys.isOutbox(keys.outboxPayers(stream)))
            #expect(keys.outboxStream(keys.outboxPayers(stream)) == nil)
        }
        #expect(keys.outboxStream(keys.outbox) == OutboxStream(slot: keys.commonSlot, lane: 0, isFollowUp: false))
        let topic = try #require(Topic("shop:42"))
        let home = keys.outbox(of: topic, payer: Array("user:ann".utf8), isFollowUp: false)
        #expect(
            text(keys.outbox(home)) == "p:{42}#outbox:\(home.lane)"
                && home.lane == OutboxStream.lane(of: "user:ann".utf8))
        for other in [
            "p:#outbox", "{42}#outbox", "p:{43}#outbox-dead", "p:{0042}#outbox", "p:{42}#outbox:16", "p:{42}#outbox:0",
            "p:{42}#outbox:03", "p:{42}#outbox:next:3", "p:{42}#outbox:3:", "",
        ] {
            #expect(keys.outboxStream(Array(other.utf8)) == nil, "\(other)")
        }
    }

    /// The names that operators type, and that an earlier version knew the first of.
    @Test func lanesOfTheOutboxHavePlainNames() throws {
        let keys = Keys(prefix: [])
        func name(_ lane: Int, _ isFollowUp: Bool) -> String {
            text(keys.outbox(OutboxStream(slot: 0, lane: lane, isFollowUp: isFollowUp)))
        }
        #expect(name(0, false) == "#outbox" && name(0, true) == "#outbox:next")
        #expect(name(15, false) == "#outbox:15" && name(15, true) == "#outbox:15:next")
        #expect(OutboxStream.all(of: 0).allSatisfy { keys.outboxStream(keys.outbox($0)) == $0 })
        #expect(keys.outboxSlots == 1 && keys.commonSlot == 0 && keys.outboxStream(Array("{42}#outbox".utf8)) == nil)
        let topic = try #require(Topic("shop:42"))
        #expect(
            keys.outbox(of: topic, payer: [], isFollowUp: true) == keys.outbox(of: nil, payer: [], isFollowUp: true))
        let lanes = Set((0..<200).map { OutboxStream.lane(of: "user:\($0)".utf8) })
        #expect(lanes == Set(0..<OutboxStream.lanes))
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
