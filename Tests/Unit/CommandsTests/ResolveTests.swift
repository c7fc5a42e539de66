import Core
import RedisLink
import Rights
import TestSupport
import Testing

@testable import Commands

/// Values that the gateway finds or makes, and scripts of several homes.
@Suite struct ResolveTests {
    /// A command whose keys are found by a key of its user.
    private static func like(_ more: String = "") -> ScriptFile {
        script(
            "like",
            """
            @command like
            @summary Likes.
            @allow user|service
            @arg userId user
            @resolve room = user:{userId}#room else not_in_room 404 -- You are in no room.
            @key likes dj:{room}#likes
            @topic dj:{room}
            @returns {}
            @cost O(1)
            \(more)
            """)
    }

    private let builder = CommandCallBuilder(
        CommandSettings(
            keys: Keys(prefix: []), policies: StandardTables.namespaces, outbox: OutboxRoom(laneMax: 1, payerMax: 1),
            doneSeconds: 1, membersMax: 1,
            callsMax: 1,
            answerLimits: Limits().answers, answerBytesMax: 1, nowMs: { 0 }))
    private let stamp = CommandCallBuilder.CallStamp(nowMs: 0, run: [], epoch: [], random: [])

    @Test func aCallIsMadeOfWhatWasFound() throws {
        let like = try #require(
            try catalogue(ResolveTests.like("@resolve bed = user:{userId}#places bed else not_found -- None.")).command(
                named: "like"))
        #expect(like.errors.map(\.code) == ["not_in_room", "not_found"] && like.error("not_in_room")?.status == 404)
        #expect(like.home == CommandDescriptor.Home(namespace: "dj", variable: "room"))
        var bound = try bind(like, #"{"userId":"u"}"#)
        let asked = try #require(builder.resolving(like, bound))
        #expect(asked.keys.map { text($0) } == ["user:u#room", "user:u#places"])
        #expect(asked.arguments.map { text($0) } == ["", "bed"])
        #expect(builder.call(like, bound, caller: service, operation: nil, fence: nil, stamp) == nil)
        bound.resolved = [bytes("r7"), bytes("b1")]
        let operation = OperationID.named(try #require(MessageID(bytes("op"))))
        let call = try #require(
            builder.call(like, bound, caller: service, operation: operation, fence: nil, stamp))
        let names = call.keys.map { text($0) ?? "" }
        #expect(names[1].hasPrefix("dj:r7#done#"))
        #expect(names.dropFirst(2) == ["dj:r7#log", "dj:r7#meta", "dj:r7#likes", "user:u#room", "user:u#places"])
        #expect(call.arguments.suffix(3).map { text($0) } == ["u", "r7", "b1"])
    }

    /// A script of a user who has not said anything yet could not be called at all.
    @Test func whereNothingIsStoredAnIdCanTakeItsPlace() throws {
        let like = try #require(
            try catalogue(ResolveTests.like("@resolve bed = user:{userId}#places bed else = none")).command(
                named: "like"))
        #expect(like.errors.map(\.code) == ["not_in_room"])
        #expect(like.resolved.last?.absent == .instead(bytes("none")))
        #expect(
            GeneratedLua.lines(like).contains {
                $0.contains("value = ARGV[21], field = 'bed', instead = 'none'}")
            })
    }

    @Test func theGeneratedLuaFollowsTheCall() throws {
        let like = try #require(try catalogue(ResolveTests.like()).command(named: "like"))
        let lines = GeneratedLua.lines(like)
        #expect(lines.contains("key = {likes = KEYS[5]}"))
        #expect(lines.contains("args = {userId = ARGV[19], room = ARGV[20]}"))
        #expect(lines.contains("resolved = {{key = KEYS[6], value = ARGV[20]}}"))
        #expect(lines.contains("first_key, last_key = 5, 5"), "the body may not touch the key that names the room")
    }

    @Test func readsOfDifferentUsersAreNotShared() throws {
        let file = reader(
            "mine", "@arg userId user\n@resolve room = user:{userId}#room else not_found -- None.",
            more: "@key likes dj:{room}#likes")
        let mine = try #require(try catalogue(file).command(named: "mine"))
        let bound = try bind(mine, nil, caller: user("u"))
        #expect(builder.likeness(mine, bound, caller: try user("u")) == nil)
    }

    @Test func callersCannotSendWhatIsFoundOrMade() throws {
        let like = try #require(try catalogue(ResolveTests.like()).command(named: "like"))
        #expect(try refusal(like, #"{"userId":"u","room":"x"}"#)?.code == .badRequest)
        #expect(
            try refusal(like, #"{"userId":"u"}"#, query: [TextArgument(name: "room", value: bytes("x"))])?.code
                == .badRequest)
    }

    @Test(arguments: [
        ("@resolve x = user:{userId}#x else not_found", "behind -- stands the sentence"),
        ("@resolve x user:{userId}#x else not_found -- S.", "expected sessionId ="),
        ("@resolve x = user:{userId}#x -- S.", "else says what is told"),
        ("@resolve x = user:{userId}#x f g else not_found -- S.", "else says what is told"),
        ("@resolve x = user:{userId}#x f g else = none", "else says what is told"),
        ("@resolve x = user:{userId}#x else = a b", "behind else = stands an id"),
        ("@resolve x = user:{userId}#x else = ", "behind -- stands the sentence"),
        ("@resolve x = user:{userId}#x f! else not_found -- S.", "a field is 1 to 64"),
        ("@resolve x = user:{userId}#log else not_found -- S.", "#log is written by the gateway"),
        ("@resolve x = user:{usrId}#x else not_found -- S.", "@resolve: {usrId} is no @arg; did you mean userId?"),
        ("@resolve x = dj:{room}#x else not_found -- S.", "{room} is resolved itself"),
        ("@resolve room = user:{userId}#x else not_found -- S.", "room is declared twice"),
        ("@resolve id = user:{userId}#x else not_found -- S.", "no word of Lua, not id"),
        ("@resolve x = user:{userId}#x else not_in_room 410 -- S.", "has the status 404 elsewhere"),
        ("@resolve x = user:{userId}#x else 404 -- S.", "expected codes"),
        ("@arg room id", "room is declared twice"), ("@arg other id as room", "another value is called room"),
        ("@derive c = geohash(userId, userId, 5)", "must be an argument number"),
        ("@derive c = geohsh(a, b, 5)", "did you mean geohash?"), ("@derive c = geohash(a, b)", "and a length from 1"),
        ("@derive c = geohash(a, b, 13)", "and a length from 1 to 12"), ("@derive c", "expected cell ="),
        ("@derive c = geohash a, b, 5", "expected cell ="), ("@derive c = uuid(a b)", "a UUID's prefix"),
        ("@derive c = address(userId)", "address() takes nothing"),
        ("@derive c = uid()", "did you mean uuid?"), ("@derive c = uuid", "expected cell ="),
        ("@arg a number -90..90 optional\n@arg b number -180..180\n@derive c = geohash(a, b, 5)", "not optional"),
        ("@arg a number -91..90\n@arg b number -180..180\n@derive c = geohash(a, b, 5)", "{a} must be an argument"),
        ("@key own user:{userId}#own", "a script that needs both says why by @span"),
        ("@span", "the value is missing"), ("@span because", "behind -- stands why"),
        ("@span -- for nothing", "leave it out"),
        ("@span bed -- Both.\n@key own user:{userId}#own", "no key and no topic has the id {bed}"),
        ("@span room reads -- Both.", "perhaps one that is read"),
        ("@span room reads room -- Both.", "perhaps one that is read"),
        ("@http POST /v1/x/{room}", "{room} is no @arg"),
    ])
    func mistakesAreTold(_ more: String, _ told: String) throws {
        let found = problems(ResolveTests.like(more))
        #expect(!found.isEmpty && found.allSatisfy { $0.hasPrefix("like.lua:") } && found[0].contains(told), "\(found)")
    }

    @Test func aScriptMaySpanHomes() throws {
        let file = ResolveTests.like("@span -- Both change at once.\n@key own user:{userId}#own\n@topic user:{userId}")
        let like = try #require(try catalogue(file).command(named: "like"))
        #expect(like.span?.reason == "Both change at once." && like.home?.variable == "room")
        #expect(like.needsOneServer)
        #expect(like.homeTopics.map(\.description) == ["dj:{room}", "user:{userId}"])
        #expect(like.foreignNamespaces.isEmpty)
        let without = try #require(try catalogue(ResolveTests.like("@topic user:{userId}")).command(named: "like"))
        #expect(without.homeTopics.map(\.description) == ["dj:{room}"] && without.foreignNamespaces == ["user"])
    }

    /// There a script runs in the slot of one id, and its other keys are looked at, or left to steps.
    @Test func onAClusterOneIdDecides() throws {
        let file = ResolveTests.like(
            "@span room reads userId -- Both.\n@key own user:{userId}#own\n@key bed bed:{bed}#bed\n@arg bed id\n"
                + "@topic user:{userId}")
        let like = try #require(try catalogue(file).command(named: "like")).onCluster()
        #expect(!like.needsOneServer && like.takesSeveralCalls)
        #expect(like.keys.map(\.name) == ["likes"] && like.looked.map(\.name) == ["own"])
        #expect(like.beyond.map(\.name) == ["bed"] && like.declaredKeys.count == 3)
        #expect(like.homeTopics.map(\.description) == ["dj:{room}"] && like.foreignNamespaces == ["user"])
        #expect(!like.rereads(like.resolved[0]))
        var bound = try bind(like, #"{"userId":"u","bed":"b"}"#)
        bound.resolved = [bytes("r7")]
        let call = try #require(builder.call(like, bound, caller: service, operation: nil, fence: nil, stamp))
        let (looked, note) = try #require(builder.looked(like, bound))
        #expect(looked.map { text($0) } == ["user:u#own"] && text(note)?.hasPrefix("dj:r7#done#") == true)
        #expect(call.keys.dropFirst(2).map { text($0) } == ["dj:r7#log", "dj:r7#meta", "dj:r7#likes", text(note)])
        #expect(call.arguments.suffix(2).map { text($0) } == ["r7", "user:u#own"])
    }

    @Test func stepsAreCommandsThatMayBeRepeated() throws {
        let step = reader("rest", "@arg room id", more: "@key likes dj:{room}#likes")
        #expect(problems(ResolveTests.like("@steps rest"), step).contains { $0.contains("rest must @allow worker") })
        #expect(problems(ResolveTests.like("@steps rest"), step).contains { $0.contains("must be @idempotent") })
        #expect(problems(ResolveTests.like("@steps other")).contains { $0.contains("there is no command other") })
    }

    /// Values of the geohash of its author and of Redis (`GEOHASH`).
    @Test(arguments: [
        (57.64911, 10.40744, 11, "u4pruydqqvj"), (0, 0, 5, "s0000"), (-90, -180, 4, "0000"), (90, 180, 4, "zzzz"),
        (48.137, 11.575, 6, "u281z7"), (37.8324, 112.5584, 9, "ww8p1r4t8"), (-25.382708, -49.265506, 8, "6gkzwgjz"),
    ])
    func cellsAreThoseOfEveryMap(_ latitude: Double, _ longitude: Double, _ length: Int, _ cell: String) {
        #expect(text(Geohash.text(latitude: latitude, longitude: longitude, length: length)) == cell)
    }

    /// Guests are counted by it, so it is the network that one client may have, and never that of somebody else.
    @Test func anAddressIsThatOfACallerWithoutAToken() throws {
        let file = reader("visit", "@arg room id", more: "@derive network = address()\n@key came dj:{room}#came")
        let visit = try #require(try catalogue(file).command(named: "visit"))
        func network(_ caller: Caller, _ address: String?) throws -> String? {
            let address = address.flatMap { IPAddress(text: $0.utf8) }
            let bound = try ArgumentBinder.bind(
                visit, body: try json(#"{"room":"r"}"#), caller: service, address: caller.payer(from: address).address)
            return text(bound.derived.first)
        }
        #expect(try network(.anonymous, "203.0.113.7") == "203.0.113.7")
        #expect(try network(.anonymous, "2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::")
        #expect(try network(.anonymous, nil) == "none")
        #expect(try network(.service("backend"), "203.0.113.7") == "none")
    }

    @Test func noPlaceHasNoCell() {
        for (latitude, longitude) in [(90.1, 0), (0, 180.1), (.nan, 0), (0, .infinity)] {
            #expect(Geohash.text(latitude: latitude, longitude: longitude, length: 5) == nil)
        }
    }

    @Test func aCellIsBoundAndGiven() throws {
        let file = reader(
            "near", "@arg latitude number -90..90 as lat\n@arg longitude number -180..180 as lon",
            more: "@derive cell = geohash(latitude, longitude, 5)\n@key rooms dj:{cell}#rooms")
        let near = try #require(try catalogue(file).command(named: "near"))
        let bound = try bind(near, #"{"lat":48.137,"lon":1.1575e1}"#)
        #expect(bound.derived.map { text($0) } == ["u281z"])
        let call = try #require(builder.call(near, bound, caller: service, operation: nil, fence: nil, stamp))
        #expect(text(call.keys.last) == "dj:u281z#rooms" && text(call.arguments.last) == "u281z")
        #expect(try refusal(near, #"{"lat":91,"lon":0}"#)?.message.hasPrefix("'lat' must be") == true)
    }

    /// A new thing's id must be known before the script runs, since its keys are named by it.
    @Test func aNewIDIsAnotherForEachCall() throws {
        let file = script(
            "begin",
            """
            @command begin
            @summary S.
            @allow user|service
            @arg title string 1..9
            @derive groupId = uuid(g:)
            @key group group:{groupId}#group
            @returns {}
            @cost O(1)
            """)
        let begin = try #require(try catalogue(file).command(named: "begin"))
        let bound = try (0..<2).map { _ in try bind(begin, #"{"title":"a"}"#) }
        let ids = try bound.map { try #require(text($0.derived.first)) }
        #expect(ids[0] != ids[1])
        #expect(
            ids.allSatisfy {
                $0.wholeMatch(of: /g:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil
            })
        let call = try #require(builder.call(begin, bound[0], caller: service, operation: nil, fence: nil, stamp))
        #expect(text(call.keys.last) == "group:" + ids[0] + "#group" && text(call.arguments.last) == ids[0])
        #expect(
            CommandCallBuilder.fingerprint(begin, bound[0]) == CommandCallBuilder.fingerprint(begin, bound[1]),
            "a retry is the same call")
        #expect(
            text(DerivedValue.uuid([UInt8](repeating: 0xff, count: 16))) == "ffffffff-ffff-4fff-bfff-ffffffffffff")
    }

    @Test func aCallThatIsStaleSaysSo() throws {
        let like = try #require(try catalogue(ResolveTests.like()).command(named: "like"))
        let settings = CommandSettings(
            keys: Keys(prefix: []), policies: [:], outbox: OutboxRoom(laneMax: 1, payerMax: 1), doneSeconds: 1,
            membersMax: 1,
            callsMax: 1,
            answerLimits: Limits().answers,
            answerBytesMax: 1, nowMs: { 0 })
        let reading = CommandReply.read(
            .failure(RedisFailure(.other, text: "STALE a resolved value is another by now")), like, settings)
        #expect(reading.outcome == .stale && reading.outcome.failureCode == "conflict" && reading.fault == nil)
    }
}

/// Lanes in which a call needs several round trips.
@Suite struct LaneTurnsTests {
    @Test func whoFollowsWaitsAndComesInOrder() {
        var turns = LaneOrder(waitingMax: 2)
        var begun: [Int] = []
        #expect(!turns.isTaken(1))
        turns.take(1)
        for number in 1...3 {
            let turn = turns.ask(1) { begun.append(number) }
            #expect("\(turn)" == (number < 3 ? "later" : "full"))
        }
        #expect("\(turns.ask(2) {})" == "now")
        for begin in turns.end(1) { begin() }
        #expect(begun == [1, 2] && !turns.isTaken(1))
        turns.take(1)
        #expect("\(turns.ask(1) {})" == "later", "what has begun makes room")
    }
}
