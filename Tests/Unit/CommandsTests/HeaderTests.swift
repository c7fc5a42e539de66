import HTTPCodec
import Testing

@testable import Commands

/// What a header says, and every way it can be wrong.
@Suite struct HeaderTests {
    private static let vote = script(
        "vote",
        """
        @command   vote
        @summary   Cast, change or withdraw a vote.
        Prose between tags is for people: @nothing here is read.
        @http      POST /v1/shops/{shopId}/tracks/{trackId}/vote
        @allow     user | service|worker
        @arg       userId   user
        @arg       shopId   id              -- the shop
        @arg       trackId  string 1..128
        @arg       vote     enum up,down,none = up
        @arg       weight   number -1.5..1.5 optional
        @arg       note     string 0..20 = "as it is"
        @key       tracks   dj:{shopId}#tracks
        @key       ballots  dj:{shopId}#votes#{trackId}
        @key       queue    queue:{shopId}
        @topic     dj:{shopId}
        @topic     user:*
        @emits     queue:update {trackId: string, score: int} -- when the order changes
        @returns   {trackId, score}
        @errors    not_present 403, not_found, full
        @cost      O(log n) in queued tracks
        @random
        """)

    @Test func everyTagOfACommandIsRead() throws {
        let command = try #require(try catalogue(HeaderTests.vote).command(named: "vote"))
        #expect(command.summary == "Cast, change or withdraw a vote.")
        #expect(command.rights.roles == [.user, .service, .worker])
        #expect(command.arguments.map(\.name) == ["userId", "shopId", "trackId", "vote", "weight", "note"])
        #expect(
            command.arguments.map(\.type) == [
                .user, .id, .string(1...128), .choice(["up", "down", "none"]), .number(-1.5...1.5), .string(0...20),
            ])
        #expect(
            command.arguments.map(\.presence) == [
                .required, .required, .required, .byDefault(bytes("up")), .optional, .byDefault(bytes("\"as it is\"")),
            ])
        #expect(command.arguments.map(\.text) == ["", "the shop", "", "", "", ""])
        #expect(command.keys.map(\.name) == ["tracks", "ballots", "queue"])
        #expect(
            command.keys.map(\.template.description) == [
                "dj:{shopId}#tracks", "dj:{shopId}#votes#{trackId}", "queue:{shopId}",
            ])
        #expect(command.home == CommandDescriptor.Home(namespace: "dj", variable: "shopId"))
        #expect(command.homeTopics.map(\.description) == ["dj:{shopId}"])
        #expect(command.foreignNamespaces == ["user"])
        #expect(command.routes.map(\.description) == ["POST /v1/shops/{shopId}/tracks/{trackId}/vote"])
        #expect(
            command.emits == [
                EmittedEvent(
                    name: "queue:update",
                    data: try DeclaredValue(header: "{trackId: string, score: int} -- when the order changes"))
            ])
        #expect(command.errors.map(\.code) == ["not_present", "not_found", "full"])
        #expect(command.errors.map(\.status) == [403, 404, 409])
        #expect(command.returns.type.description == "{trackId: any, score: any}")
        #expect(command.cost == "O(log n) in queued tracks")
        #expect(command.usesRandom && !command.isReadOnly && command.refresh == nil)
    }

    @Test func aRefreshIsReadAndNamedAfterItsFile() throws {
        let refresh = try #require(
            try catalogue(
                script(
                    "queue_refresh",
                    """
                    @refresh shop:{shopId}#bookings
                    @refresh shop:{shopId}#barbers
                    @coalesce 50 ms
                    @summary Computes.
                    @arg shopId id
                    @key bookings shop:{shopId}#bookings
                    @topic shop:{shopId}
                    @cost O(n)
                    """)
            ).refreshes.first)
        #expect(refresh.name == "queue_refresh")
        #expect(refresh.scriptName == "refresh/queue_refresh")
        #expect(refresh.refresh?.triggers.map(\.description) == ["shop:{shopId}#bookings", "shop:{shopId}#barbers"])
        #expect(refresh.refresh?.coalesceMs == 50)
        #expect(refresh.rights.roles == [.worker])
    }

    @Test func linesMayEndAsOnWindows() throws {
        let windows = ScriptFile(
            name: "vote", path: "vote.lua",
            bytes: HeaderTests.vote.bytes.flatMap { $0 == 0x0a ? [0x0d, 0x0a] : [$0] })
        #expect(try catalogue(windows).command(named: "vote")?.cost == "O(log n) in queued tracks")
    }

    @Test func theHeaderEndsWithTheFirstLineOfCode() throws {
        var body = command("a")
        body = ScriptFile(name: "a", path: "a.lua", bytes: body.bytes + bytes("-- @nonsense in a later comment\n"))
        #expect(try catalogue(body).command(named: "a") != nil)
    }

    /// One line too many or too wrong, and what its author is told.
    ///
    /// The line stands eighth.
    @Test(arguments: [
        ("@arq x id", "unknown tag @arq; did you mean @arg?"),
        ("@zzzzzz", "unknown tag @zzzzzz"),
        ("@summary again", "@summary was given before, on line 2"),
        ("@calls", "@calls: the value is missing"),
        ("@readonly yes", "@readonly: takes no value"),
        ("@state shop", "@state does not belong in a script with @command"),
        ("@coalesce 20 ms", "@coalesce does not belong in a script with @command"),
        ("@http OPTIONS /v1/x", "@http: the method must be one of GET, POST, PUT, PATCH, DELETE"),
        ("@http POSTS /v1/x", "@http: the method must be one of GET, POST, PUT, PATCH, DELETE; did you mean POST?"),
        ("@http POST v1/x", "@http: the path must begin with / and have at most 16 parts"),
        ("@http POST /a//b", "@http: a part of the path is letters, digits and . _ ~ -, or an argument in braces"),
        ("@http POST /a/../b", "@http: a part of the path is letters, digits and . _ ~ -, or an argument in braces"),
        ("@http POST /a/{shopId}/{shopId}", "@http: the path names an argument twice"),
        ("@http POST /a/{shopid}", "@http: {shopid} is no @arg; did you mean shopId?"),
        ("@http GET /a", "@http: a GET may be repeated by anyone, so the script must be @readonly"),
        ("@http POST /v1/topics/{shopId}", "@http: /v1/topics/{shopId} lies under the gateway's own /v1/topics"),
        ("@http POST /{shopId}/x", "@http: /{shopId}/x lies under the gateway's own /realtime"),
        ("@http POST /ws", "@http: /ws lies under the gateway's own /ws"),
        ("@arg shopId id", "@arg: shopId is declared twice"),
        (
            "@arg ShopId id",
            "@arg: an argument's name is a lower-case letter, then at most 63 of A-Z a-z 0-9, and no word of Lua"
        ),
        (
            "@arg end id",
            "@arg: an argument's name is a lower-case letter, then at most 63 of A-Z a-z 0-9, and no word of Lua"
        ),
        ("@arg id id", "@arg: id is the operation's own; choose another name, e.g. itemId as id"),
        ("@arg x", "@arg: expected a name and a type, e.g. shopId id"),
        (
            "@arg x strnig 1..2",
            "@arg: \"strnig\" is no type; the types are id, user, string, int, number, enum, bool, json, time, ids; "
                + "did you mean string?"
        ),
        ("@arg x string", "@arg: expected string A..B within 0..65536"),
        ("@arg x string 5..1", "@arg: expected string A..B within 0..65536"),
        ("@arg x int 1..9007199254740992", "@arg: expected int A..B within -9007199254740991..9007199254740991"),
        ("@arg x number 0x1..2", "@arg: expected number A..B, e.g. number -90..90"),
        ("@arg x enum a,b,a", "@arg: expected enum a,b,c: different words of A-Z a-z 0-9 . _ -, without spaces"),
        ("@arg x json 10", "@arg: expected json BYTES DEPTH, at most 65536 bytes and 32 levels"),
        (
            "@arg x id optinal",
            "@arg: unexpected \"optinal\" after the type; only optional or = DEFAULT, then fold lower, then as NAME, then "
                + "-- text; did you mean optional?"
        ),
        ("@arg x int 1..5 = 9", "@arg: the default must be a whole number from 1 to 5"),
        ("@arg x time = 0", "@arg: an argument of type time has no default"),
        ("@key tracks dj:{shopId}#more", "@key: tracks is declared twice"),
        ("@key more dj:{shopId}#meta", "@key: #meta is written by the gateway itself; choose another facet"),
        (
            "@key more dj:{shopId}#log",
            "@key: #log is written by the gateway itself; choose another facet. Only a script that says @erases, or that "
                + "the worker alone may call, may name a log, to delete it"
        ),
        ("@key more dj:*", "@key: a key needs an argument in braces, not *"),
        ("@key more dj", "@key: expected a template such as dj:{shopId}#tracks or dj:{shopId}#votes#{trackId}"),
        (
            "@key more dj:{shopId}#a#{b}#c",
            "@key: expected a template such as dj:{shopId}#tracks or dj:{shopId}#votes#{trackId}"
        ),
        ("@key more dj:{other}#x", "@key: {other} is no @arg"),
        ("@topic dj:{shopId}#x", "@topic: a topic has no #"),
        ("@topic dj:{trackId}", "@topic: {trackId} is no @arg; for an id that is none write dj:*"),
        ("@topic dj:{shopid}", "@topic: {shopid} is no @arg; for an id that is none write dj:*; did you mean shopId?"),
        ("@topic users:*", "@topic: namespace users is not configured; did you mean user?"),
        (
            "@topic library:*",
            "@topic: namespace library is not configured; write it into \"namespaces\" of pack.json or of the config file"
        ),
        ("@calls other", "@calls: there is no command other"),
        ("@calls a, a", "@calls: a is given twice"),
        ("@emits {x}", "@emits: an event's name is 1 to 64 of A-Z a-z 0-9 . _ : / -, and no word of the gateway"),
        ("@emits gap {x}", "@emits: an event's name is 1 to 64 of A-Z a-z 0-9 . _ : / -, and no word of the gateway"),
        ("@emits e x", "@emits: there is no type x"),
        ("@emits e", "@emits: expected an event and the type of its data, e.g. queue:update {trackId: string}"),
        ("@emits e [int]", "@emits: the data of an event are an object, e.g. queue:update {trackId: string}"),
        ("@errors forbidden 404", "@errors: forbidden is a code of the gateway and has the status 403"),
        ("@errors mine 500", "@errors: the status of mine must be 400 to 499"),
        ("@errors mine, mine", "@errors: mine is given twice"),
        ("@errors a b c", "@errors: expected codes such as not_present 403, separated by commas"),
        ("@heartbeat 4 s", "@heartbeat: expected 5 to 3600 and the unit, e.g. 20 s"),
        ("@heartbeat 30", "@heartbeat: expected 5 to 3600 and the unit, e.g. 20 s"),
        ("@heartbeat 30 s", "@heartbeat: the script must have exactly one required argument, userId id"),
        ("@emits e\t{x}", "@emits has a tab, a control character or bytes that are not UTF-8"),
    ])
    func aWrongLineIsToldByItsPlace(_ line: String, _ message: String) {
        #expect(problems(operators: [command("a", line)]) == ["a.lua:8: " + message])
    }

    @Test func aTagThatLooksLikeProseIsNotPassedOver() {
        let wrong = ScriptFile(name: "a", path: "a.lua", bytes: bytes("--@readonly\n") + command("a").bytes)
        #expect(problems(wrong) == ["a.lua:1: a tag is written \"-- @tag value\", with one space before the @"])
    }

    @Test func allProblemsOfAllFilesAreTold() {
        let first = command("b", "@allow nobody\n@arg x strin 1..2\n@what 5")
        let second = script("c", "@command subscribe\n@allow usr")
        #expect(
            problems(operators: [first, second]) == [
                "b.lua:8: @allow was given before, on line 3",
                "b.lua:9: @arg: \"strin\" is no type; the types are id, user, string, int, number, enum, bool, json, "
                    + "time, ids; did you mean string?",
                "b.lua:10: unknown tag @what",
                "c.lua:1: @command: subscribe is a word of the protocol; choose another name",
                "c.lua:1: a script with @command needs @cost",
                "c.lua:1: a script with @command needs @returns",
                "c.lua:1: a script with @command needs @summary",
                "c.lua:2: @allow: \"usr\" is no role; the roles are anonymous, user, service, worker; did you mean user?",
            ])
    }

    @Test func sizesAreBounded() {
        let long = ScriptFile(name: "a", path: "a.lua", bytes: [UInt8](repeating: 0x20, count: 262_145))
        #expect(problems(long) == ["a.lua:1: a script may have 262144 bytes"])
        let wide = command("a", "@emits e {\(String(repeating: "x", count: 1_024))}")
        #expect(problems(wide) == ["a.lua:8: a line of a header may have 1024 bytes"])
        let tall = command("a", String(repeating: "prose\n", count: 300) + "@random")
        #expect(problems(tall) == ["a.lua:308: a header may have 256 lines"])
        let many = command("a", (0..<32).map { "@arg x\($0) id" }.joined(separator: "\n"))
        #expect(problems(many) == ["a.lua:39: a header may have 32 of @arg"])
    }

    @Test func aLongPathDoesNotHideTheNameOfTheScript() {
        let path = String(repeating: "folder/", count: 100) + "vote.lua"
        let problem = ScriptProblem(file: path, line: 3, message: "unknown tag @arq")
        #expect(problem.description == path + ":3: unknown tag @arq")
    }
}
