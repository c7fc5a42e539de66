import Core
import RedisLink
import Rights
import TestSupport
import Testing

@testable import Commands

/// What a publish carries to Redis: whose its id is, and what the id was used for.
@Suite struct PublishCallTests {
    private let op = MessageID(bytes("op-1"))

    private func id(_ caller: Caller, connection: [UInt8] = []) throws -> PublishID {
        PublishID(try #require(op), of: caller, connection: connection)
    }

    private func identity(_ name: String, _ role: Identity.Role) throws -> Caller {
        .user(try #require(Identity(user: bytes(name), role: role, topics: nil, expiresAt: 0)))
    }

    /// Ids were the topic's: the second publisher of an id was acked with the first one's offset.
    @Test func anIDBelongsToItsPublisher() throws {
        let ids = [
            try id(identity("a", .user)), try id(identity("b", .user)), try id(identity("a", .service)),
            try id(.service("a")), try id(.anonymous, connection: [1]), try id(.anonymous, connection: [2]),
            PublishID.outbox(try #require(op)),
        ]
        #expect(
            ids.map { text($0.owner) } == [
                "user:a", "user:b", "token:a", "key:a", "connection:01", "connection:02", "worker",
            ])
        let topic = try #require(Topic("shop:42"))
        let keys = Set(ids.map { Keys(prefix: []).seen(topic, owner: $0.owner, $0.id) })
        #expect(keys.count == ids.count && keys.contains(bytes("shop:42#seen#user:a#op-1")))
    }

    @Test(arguments: [
        (#"{"a":1,"b":[{"c":2,"d":3}]}"#, #"{ "b" : [ {"d":3, "c":2} ], "a":1 }"#, true),
        (#"{"a":1}"#, #"{"a":2}"#, false), (#"{"a":1}"#, #"{"a":1.0}"#, false), (#"{"a":1}"#, #"{"a":"1"}"#, false),
        (#"{"a":[1,2]}"#, #"{"a":[2,1]}"#, false), (#"{"a":[]}"#, #"{"a":{}}"#, false), (#"{"a":{}}"#, "{}", false),
        (#"{"ab":1}"#, #"{"a":{"b":1}}"#, false), (#"{"a":1,"b":2}"#, #"{"a":2,"b":1}"#, false),
        (#"{"a":1,"b":2}"#, #"{"a1:b":12}"#, false), (#"{"é":1}"#, #"{"\u00e9":1}"#, true),
    ])
    func theFingerprintTellsWhatIsPublished(_ one: String, _ other: String, _ isSame: Bool) throws {
        let event = try #require(EventName("e"))
        let prints = [one, other].map { PublishPrint.text(event, bytes($0)) }
        #expect((prints[0] == prints[1]) == isSame)
        #expect(prints.allSatisfy { $0.count == 32 })
        #expect(prints[0] != PublishPrint.text(try #require(EventName("f")), bytes(one)))
    }

    @Test func anEventWithoutAnIDHasNoFingerprint() throws {
        let registry = try ScriptRegistry(scripts: [("publish", [])]) { Digest.sha1($0) }
        let (script, event) = (try #require(registry.script(named: "publish")), try #require(EventName("e")))
        let topic = try #require(Topic("shop:42"))
        let events = [
            PublishCall.Event(event, data: bytes("{}"), id: nil),
            PublishCall.Event(event, data: bytes("{}"), id: try id(.service("k"))),
        ]
        let policy = try #require(StandardTables.namespaces["shop"])
        let stamp = CommandCallBuilder.CallStamp(nowMs: 5, run: bytes("r"), epoch: bytes("c"), random: [])
        let call = PublishCall(topic, events).call(
            script, keys: Keys(prefix: []), meta: Keys(prefix: []).meta(topic), policy: policy, seenSeconds: 300, stamp,
            top: nil)
        #expect(
            call.keys.map { text($0) } == ["shop:42#log", "shop:42#meta", "shop:42#meta", "shop:42#seen#key:k#op-1"])
        #expect(call.arguments.count == 4 * call.keys.count - 4)
        let terms = "5 \(policy.logEventsMax) \(policy.logSeconds) \(policy.positionSeconds) 300 c"
        #expect(call.arguments.prefix(8).map { text($0) } == ["shop:42", "e", "{}", "-", "", terms, "r", ""])
        #expect(call.fenceAt.map { text(call.arguments[$0]) } == "r")
        #expect(call.arguments.suffix(2).map { $0.count } == [4, 32])
    }

    /// A log is bound in all that it keeps of an event, and only the data were counted.
    @Test func nameAndIDCountForTheLogsBoundInBytes() throws {
        let registry = try ScriptRegistry(scripts: [("publish", [])]) { Digest.sha1($0) }
        let script = try #require(registry.script(named: "publish"))
        let (topic, name) = (try #require(Topic("shop:42")), try #require(EventName("event")))
        var policy = try #require(StandardTables.namespaces["shop"])
        policy.logBytesMax = 2 * policy.logEventsMax * 10
        let stamp = CommandCallBuilder.CallStamp(nowMs: 5, run: bytes("r"), epoch: bytes("c"), random: [])
        func bound(_ data: String, _ id: PublishID?) -> String? {
            let event = PublishCall.Event(name, data: bytes(data), id: id)
            let call = PublishCall(topic, [event]).call(
                script, keys: Keys(prefix: []), meta: Keys(prefix: []).meta(topic), policy: policy, seenSeconds: 300,
                stamp, top: nil)
            return text(Array(call.arguments[5].split(separator: UInt8(ascii: " "))[1]))
        }
        #expect(bound(#"{"":1}"#, nil) == "200:4000b")
        #expect(bound("{  }", nil) == "200")
        #expect(bound("{  }", try id(.service("k"))) == "200:4000b")
    }

    @Test func onlyEventsThatAreLargeForTheLogHaveItsBytesLookedAt() throws {
        var policy = try #require(StandardTables.namespaces["shop"])
        #expect(text(policy.logBound(largestBytes: 1_000_000)) == "200")
        policy.logBytesMax = 400_000
        #expect(text(policy.logBound(largestBytes: 1_000)) == "200")
        #expect(text(policy.logBound(largestBytes: 1_001)) == "200:400000b")
        policy.logEventsMax = 0
        #expect(text(policy.logBound(largestBytes: 1_001)) == "0")
        policy.logEventsMax = 200
        let registry = try ScriptRegistry(scripts: [("publish", [])]) { Digest.sha1($0) }
        let (script, event) = (try #require(registry.script(named: "publish")), try #require(EventName("e")))
        let stamp = CommandCallBuilder.CallStamp(nowMs: 5, run: bytes("r"), epoch: bytes("c"), random: [])
        let topic = try #require(Topic("shop:42"))
        for (sizes, bound) in [([2, 999], "200"), ([2, 1_000, 2], "200:400000b")] {
            let events = sizes.map { PublishCall.Event(event, data: Array(repeating: 0, count: $0), id: nil) }
            let call = PublishCall(topic, events).call(
                script, keys: Keys(prefix: []), meta: Keys(prefix: []).meta(topic), policy: policy, seenSeconds: 300,
                stamp, top: nil)
            let terms = try #require(text(call.arguments[5]))
            #expect(terms.split(separator: " ").dropFirst().first.map(String.init) == bound)
        }
    }

    /// `Tests/Scripts/test_event_format.py` calls the script with the same words.
    @Test func theScriptGetsItsWordsAndItsAnswerIsRead() throws {
        let registry = try ScriptRegistry(scripts: [("publish", [])]) { Digest.sha1($0) }
        let (script, topic) = (try #require(registry.script(named: "publish")), try #require(Topic("shop:42")))
        let policy = try #require(StandardTables.namespaces["shop"])
        let stamp = CommandCallBuilder.CallStamp(nowMs: 5, run: bytes("r"), epoch: bytes("c"), random: [])
        for one in try EventVectors.load().written {
            let id = MessageID(bytes(one.id)).map { PublishID($0, of: .service("k"), connection: []) }
            let event = PublishCall.Event(
                try #require(EventName(one.event)), data: bytes(one.data), id: id,
                origin: EchoExclusion(bytes(one.origin)))
            let call = PublishCall(topic, [event]).call(
                script, keys: Keys(prefix: []), meta: Keys(prefix: []).meta(topic), policy: policy, seenSeconds: 300,
                stamp, top: nil)
            #expect(call.arguments[1...3].map { text($0) } == one.words)
            let position = try #require(Position(epoch: bytes(one.epoch), offset: one.offset))
            #expect(
                PublishCall.PublishResult.read(.string(bytes(one.reply)), count: 1)
                    == [PublishCall.PublishResult(outcome: .published, position: position)])
        }
    }

    @Test func theReplyTellsOfEachEvent() throws {
        let position = try #require(Position(epoch: bytes("e-1"), offset: 9_007_199_254_740_991))
        let reply = RESPValue.string(bytes("e-1 9007199254740991 0 e-1 9007199254740991 1 - 0 2"))
        let told = try #require(PublishCall.PublishResult.read(reply, count: 3))
        #expect(told.map(\.outcome) == [.published, .duplicate, .conflict])
        #expect(told.map(\.position) == [position, position, nil])
    }

    @Test(arguments: [
        "", " ", "e 1", "e 1 3", "e 1 -1", "e x 0", "e -1 0", "e 1 0 ", " e 1 0", "e  1 0", "e 1 0 e 2 0", " 1 0",
        "e 0x1 0", "e 99999999999999999999 0", "a.b 1 0",
    ])
    func whatIsNoReplyIsNone(_ text: String) {
        #expect(PublishCall.PublishResult.read(.string(bytes(text)), count: 1) == nil)
        #expect(PublishCall.PublishResult.read(.array([.string(bytes(text))]), count: 1) == nil)
    }
}
