import Core
import RedisLink
import Testing

@testable import Courier
@testable import Push

/// The reading of an item in Redis right before it is pushed.
@Suite struct PushReaderTests {
    private final class World {
        let redis: FakeRedis
        let reader: PushReader
        /// Replies by command and facet, such as `GET online`.
        var replies: [String: RESPValue] = [:]
        var facts: [PushFacts?] = []

        init() throws {
            let parts = try TestParts.made()
            redis = FakeRedis(parts.scripts)
            reader = PushReader(redis, parts.keys)
            redis.reply = { [weak self] words in
                let facet = words[1].split(separator: "#").last ?? ""
                return self?.replies["\(words[0]) \(facet)"] ?? .null
            }
        }

        @discardableResult
        func read(_ name: String, user: String = "ann") throws -> PushFacts? {
            let item = try #require(PushItem(name: bytes(name), score: 5))
            reader.facts(of: item, user: bytes(user)) { self.facts.append($0) }
            redis.settle()
            return try #require(facts.last)
        }
    }

    private static let device = ##"{"k":"abcd","p":"ios","e":"sandbox","r":1000,"z":"Europe/Berlin"}"##
    private static let message = ##"{"x":"Hi","s":"bob","i":"m1","l":1795205000000,"t":"Bob","u":2}"##

    private static func inbox(_ fields: String...) -> RESPValue {
        .array([.array([.string(bytes("1795205000000-0")), .array(fields.map { .string(bytes($0)) })])])
    }

    @Test func aNotificationIsReadWithAllThatDecidesAboutIt() throws {
        let world = try World()
        world.replies = [
            "GET online": .string(bytes("100")), "GET awake": .string(bytes("300")),
            "HGETALL devices": list("b", PushReaderTests.device, "broken", "{}", "a", PushReaderTests.device),
            "GET push_rules": .string(bytes(#"{"types":{"booking":"urgent"},"z":"Asia/Tokyo"}"#)),
            "SCARD unread": .integer(4), "HVALS chat_unread": list("2", "x", "99999"),
            "HGET push_tries": .string(bytes(#"{"n":3,"d":["a"]}"#)), "SISMEMBER unread": .integer(1),
            "XRANGE inbox": PushReaderTests.inbox("type", "booking", "title", "T", "body", "B"),
        ]
        let facts = try #require(try world.read("n:1795205000000-0"))
        #expect(facts.content?.title == bytes("T") && facts.content?.sender == nil && facts.isUnread)
        #expect(facts.seenMs == 300, "the later of both signs of life")
        #expect(facts.badge == 4 + 2 + 10_000)
        #expect(facts.devices.map { text($0.id) } == ["a", "b"], "what is no device is none")
        #expect(facts.rules.wish(bytes("booking")) == .urgent && facts.rules.zone == bytes("Asia/Tokyo"))
        #expect(facts.past.tries == 3 && facts.past.done == [bytes("a")] && !facts.isUnwanted)
        #expect(world.redis.calls("GET", "user:ann#online").count == 1)
        #expect(world.redis.calls("XRANGE", "user:ann#inbox", "1795205000000-0", "1795205000000-0").count == 1)
    }

    @Test func aMessageIsReadFromTheUsersList() throws {
        let world = try World()
        world.replies = [
            "HGET chat_unread": .string(bytes("2")), "HGET chats": .string(bytes(PushReaderTests.message)),
        ]
        let facts = try #require(try world.read("c:ann_bob"))
        #expect(facts.content?.body == bytes("Hi") && facts.content?.sender == bytes("bob") && facts.isUnread)
        #expect(!facts.isUnwanted)
        let asked = world.redis.calls("SISMEMBER").map { $0.dropFirst().joined(separator: " ") }
        #expect(asked == ["user:ann#mutes bob", "user:ann#blocks bob", "user:ann#blockers bob"])
        world.replies["HGET chat_unread"] = .string(bytes("0"))
        #expect(try world.read("c:ann_bob")?.isUnread == false)
    }

    @Test(arguments: ["mutes", "blocks", "blockers"]) func nobodyIsToldOfWhomTheyDoNotHear(_ facet: String) throws {
        let world = try World()
        world.replies = [
            "HGET chat_unread": .string(bytes("2")), "HGET chats": .string(bytes(PushReaderTests.message)),
            "SISMEMBER \(facet)": .integer(1),
        ]
        #expect(try world.read("c:ann_bob")?.isUnwanted == true)
    }

    @Test func aUsersOwnMessageIsNone() throws {
        let world = try World()
        world.replies = [
            "HGET chat_unread": .string(bytes("2")), "HGET chats": .string(bytes(PushReaderTests.message)),
        ]
        #expect(try world.read("c:ann_bob", user: "bob")?.content == nil)
        #expect(world.redis.calls("SISMEMBER").isEmpty)
    }

    @Test func whatIsMissingOrBrokenIsAbsent() throws {
        let world = try World()
        world.replies = [
            "GET online": .string(bytes("soon")), "HGETALL devices": list("odd"), "GET push_rules": .string(bytes("{")),
            "SCARD unread": .integer(-5), "XRANGE inbox": .array([list("only an id")]),
        ]
        let facts = try #require(try world.read("n:1795205000000-0"))
        #expect(facts.content == nil && !facts.isUnread && facts.seenMs == nil && facts.badge == 0)
        #expect(facts.devices.isEmpty && facts.rules == PushRules() && facts.past == PushPast())
    }

    @Test func withoutRedisNothingIsKnown() throws {
        let world = try World()
        world.redis.failure = RedisFailure(.disconnected)
        #expect(try world.read("n:1795205000000-0") == nil && world.facts.count == 1)
        world.redis.failure = nil
        // Redis goes between the two reads.
        world.replies = [
            "HGET chat_unread": .string(bytes("2")), "HGET chats": .string(bytes(PushReaderTests.message)),
        ]
        let answer = world.redis.reply
        world.redis.reply = { words in
            if words[0] == "HGET", words[1].hasSuffix("#chats") { world.redis.failure = RedisFailure(.timedOut) }
            return answer(words)
        }
        #expect(try world.read("c:ann_bob") == nil && world.facts.count == 2)
    }

    @Test func aUserThatNoTopicCanHaveIsNotAskedFor() throws {
        let world = try World()
        #expect(try world.read("c:ann_bob", user: "no user") == nil && world.redis.log.isEmpty)
    }
}
