import Core
import TestSupport
import Testing

@testable import Commands

/// What headers say of services outside, and what is refused.
@Suite struct OutsideTests {
    /// The least command that gets answers.
    private static func found(_ change: (String) -> String = { $0 }) -> ScriptFile {
        script(
            "found",
            change(
                """
                @command found
                @summary Gets answers.
                @allow worker
                @arg shopId id
                @arg outcome enum ok,failed
                @arg answer json 4096 8 optional
                @key tracks dj:{shopId}#tracks
                @returns {}
                @cost O(1)
                """))
    }

    private static func caller(_ tag: String, allow: String = "service", more: String = "") -> ScriptFile {
        command("a", "@call_out \(tag)\n" + more, allow: allow)
    }

    @Test func aCallIsRead() throws {
        let file = OutsideTests.caller("spotify found", more: "@call_out mail-box found")
        let descriptor = try #require(try catalogue(file, OutsideTests.found()).command(named: "a"))
        #expect(descriptor.callsOut.map(\.description) == ["spotify found", "mail-box found"])
        #expect(descriptor.services == ["mail-box", "spotify"])
        #expect(try catalogue(file, OutsideTests.found()).services == ["mail-box", "spotify"])
    }

    @Test(arguments: [
        ("spotify", "expected a service and the command that gets its answer, e.g. spotify track_found"),
        ("spotify a b", "expected a service and the command that gets its answer, e.g. spotify track_found"),
        ("Spotify found", "\"Spotify\" is no name of a service: a lower-case letter, then at most 31 of a-z 0-9 -"),
        ("a#b found", "\"a#b\" is no name of a service: a lower-case letter, then at most 31 of a-z 0-9 -"),
        ("spotify Found", "\"Found\" is no name of a command"),
    ])
    func aCallOfBadFormIsTold(_ tag: String, _ message: String) {
        #expect(problems(OutsideTests.caller(tag), OutsideTests.found()) == ["a.lua:8: @call_out: " + message])
    }

    @Test func whoCallsIsNamedByARate() {
        let file = OutsideTests.caller("spotify found", allow: "user|anonymous|service", more: "@rate 1/1 s user")
        #expect(
            problems(file, OutsideTests.found()) == [
                "a.lua:8: @call_out: each call costs the service outside, so say how often a caller may, e.g. "
                    + "@rate 10/60 s address"
            ])
    }

    @Test(arguments: [
        ("@call_out spotify found", "@call_out: spotify found is given twice"),
        (
            "@idempotent",
            "@call_out: each retry of an @idempotent script would call again; leave that word out"
        ),
        ("@readonly", "@call_out: a @readonly script calls nothing"),
    ])
    func whatDoesNotGoTogetherIsTold(_ more: String, _ message: String) {
        let told = problems(OutsideTests.caller("spotify found", more: more), OutsideTests.found())
        #expect(told.count == 1 && told.first?.hasSuffix(": " + message) == true, "\(told)")
    }

    @Test(arguments: [
        (
            "@allow worker", "@allow worker|user",
            "must not @allow user, who could answer in the courier's place; write @allow worker"
        ),
        (
            "@allow worker", "@allow worker|anonymous",
            "must not @allow anonymous, who could answer in the courier's place; write @allow worker"
        ),
        ("@allow worker", "@allow service", "must @allow worker, by whom the courier's answer comes"),
        ("enum ok,failed", "enum ok,lost", "needs the line -- @arg outcome enum ok,failed"),
        ("enum ok,failed", "enum ok,failed optional", "needs the line -- @arg outcome enum ok,failed"),
        ("json 4096 8 optional", "json 4096 8", "needs a line such as -- @arg answer json 4096 8 optional"),
        (
            "answer json 4096 8 optional", "answer id optional",
            "needs a line such as -- @arg answer json 4096 8 optional"
        ),
        ("@cost O(1)", "@cost O(1)\n@readonly", "must not be @readonly: an answer that changes nothing is lost"),
    ])
    func anAnsweringCommandIsTheCouriers(_ old: String, _ new: String, _ message: String) {
        let found = OutsideTests.found {
            $0.split(separator: old).joined(separator: new) + ($0.hasSuffix(old) ? new : "")
        }
        #expect(problems(OutsideTests.caller("spotify found"), found) == ["a.lua:8: @call_out: found " + message])
    }

    @Test func anUnknownCommandIsToldWithTheNearest() {
        #expect(
            problems(OutsideTests.caller("spotify fond"), OutsideTests.found()) == [
                "a.lua:8: @call_out: there is no command fond; did you mean found?"
            ])
    }

    @Test(arguments: [
        (
            "call_out('spotfy', {}, 'found')",
            "call_out: \"spotfy\" is in no @call_out of the header; did you mean spotify?"
        ),
        (
            "call_out('spotify', {a = {1, 2}, tostring(3, 'x')}, 'fund')",
            "call_out: no @call_out of the header says that \"fund\" gets the answers of spotify; did you mean found?"
        ),
        ("call_out('spotify', {'x', 'y'}, 'found', {shopId = 'z'})", ""),
        ("call_out('spotify', {'x', 'y'}, 'found')", ""),
        (
            "call_out('spotify', {'x', 'y'}, 'found', {1, 'z'})",
            "call_out: found takes arguments by name, as in {shopId = ...}"
        ),
        (
            "call_out('spotify', {}, 'found', {shopId = 'z', outcome = 'ok'})",
            "call_out: outcome of found is given by the courier"
        ),
        ("call_out('spotify', {}, 'found', {})", "call_out: 'shopId' of found is missing"),
        ("call_out('spotify', {}, 'fo' .. 'und')", ""),
        ("call_out('spotify', {}, args.shopId)", ""),
        ("call_out('spotify'", ""),
        ("call_out(args.shopId, {}, 'x')", ""),
    ])
    func bodiesAreReadForTheirCalls(_ line: String, _ message: String) throws {
        let header = OutsideTests.caller("spotify found")
        let file = ScriptFile(name: "a", path: "a.lua", bytes: header.bytes + bytes(line + "\n"))
        let mistakes = try catalogue(file, OutsideTests.found()).bodyMistakes.map(\.description)
        #expect(mistakes == (message.isEmpty ? [] : ["a.lua:10: " + message]))
    }

    @Test(arguments: [("call_out", "'x', {}, 'y'"), ("call_room", "'x'"), ("courier_joined", "'x'")])
    func theWordsNeedTheirTag(_ word: String, _ arguments: String) throws {
        let line = bytes("\(word)(\(arguments))\n")
        let file = ScriptFile(name: "b", path: "b.lua", bytes: command("b").bytes + line)
        #expect(
            try catalogue(file).bodyMistakes.map(\.description) == ["b.lua:9: \(word) is there with @call_out only"])
    }

    /// The generated names and the built call agree on the places, behind those of members.
    @Test func theStreamsStandBehindTheMembers() throws {
        let file = OutsideTests.caller("spotify found", more: "@call_out mail found\n@topic dj:{shopId}\n@members")
        let descriptor = try #require(try catalogue(file, OutsideTests.found()).command(named: "a"))
        let settings = CommandSettings(
            keys: Keys(prefix: bytes("p:")), policies: StandardTables.namespaces,
            outbox: OutboxRoom(laneMax: 1, payerMax: 1), doneSeconds: 1,
            membersMax: 9, callsMax: 7, answerLimits: JSON.Limits(depthMax: 4, elementsMax: 9), answerBytesMax: 9,
            nowMs: { 0 })
        let stamp = CommandCallBuilder.CallStamp(nowMs: 1, run: bytes("r"), epoch: bytes("e"), random: [])
        let bound = try bind(descriptor, #"{"shopId":"1"}"#)
        let call = try #require(
            CommandCallBuilder(settings).call(
                descriptor, bound, caller: service, operation: nil, fence: nil, stamp))
        #expect(call.keys.suffix(2).map { text($0) } == ["p:#calls:mail", "p:#calls:spotify"])
        #expect(text(call.arguments.last) == "7")
        let lines = GeneratedLua.lines(descriptor)
        #expect(lines.contains("calls_max = tonumber(ARGV[\(call.arguments.count)])"))
        let stream = "['spotify'] = {stream = KEYS[\(call.keys.count)], waiting = 0, commands = {found = true}}"
        #expect(lines.contains { $0.contains(stream) }, "\(lines)")
    }

    // MARK: Answers

    /// A read-only command with these routes.
    private static func asker(_ routes: String, allow: String = "service", more: String = "@readonly") -> ScriptFile {
        script(
            "q",
            "@command q\n@summary S.\n@allow \(allow)\n@returns {}\n@cost O(1)\n\(routes)\n\(more)")
    }

    @Test func aRouteByAServiceIsRead() throws {
        let text = "@http GET /v1/q via spotify cache 60 -- Not today -- sorry."
        let command = try #require(try catalogue(OutsideTests.asker(text)).command(named: "q"))
        let via = try #require(command.via)
        #expect(via.service == "spotify" && via.cacheSeconds == 60 && via.absent == "Not today -- sorry.")
        #expect(command.routes.map(\.description) == ["GET /v1/q"] && command.priceMicroseconds == 1_300)
        let plain = try catalogue(OutsideTests.asker("@http GET /v1/q 202 via mail-box"))
        #expect(plain.services == ["mail-box"])
        let mail = try #require(plain.command(named: "q"))
        #expect(mail.via?.cacheSeconds == 0 && mail.routes.first?.status == 202)
        #expect(mail.via?.absent == "mail-box cannot be asked: no courier of it is running")
    }

    @Test(arguments: [
        ("via", "behind via stand a service and perhaps how long answers are kept, e.g. via spotify cache 60"),
        ("via a cache", "behind via stand a service and perhaps how long answers are kept, e.g. via spotify cache 60"),
        (
            "via a kept 60",
            "behind via stand a service and perhaps how long answers are kept, e.g. via spotify cache 60"
        ),
        ("via A", "\"A\" is no name of a service: a lower-case letter, then at most 31 of a-z 0-9 -"),
        ("via a cache 0", "answers are kept for 1 to 3600 seconds, e.g. cache 60"),
        ("via a cache 3601", "answers are kept for 1 to 3600 seconds, e.g. cache 60"),
        ("via a cache x", "answers are kept for 1 to 3600 seconds, e.g. cache 60"),
    ])
    func aRouteOfBadFormIsTold(_ words: String, _ message: String) {
        let text = words == "via" ? "@http GET /v1/q via  -- x" : "@http GET /v1/q " + words
        #expect(problems(OutsideTests.asker(text)) == ["q.lua:6: @http: " + message])
    }

    @Test func whatAServiceAnswersIsAReadOfNoWorker() {
        let key = "@arg shopId id\n@key box dj:{shopId}#box"
        #expect(
            problems(OutsideTests.asker("@http POST /v1/q via a", more: key)) == [
                "q.lua:6: @http: what a service outside answers must be @readonly; to have one called write @call_out"
            ])
        #expect(
            problems(OutsideTests.asker("@http GET /v1/q via a", allow: "service|worker")) == [
                "q.lua:6: @http: the worker waits for no service outside; take worker out of @allow"
            ])
        #expect(
            problems(OutsideTests.asker("@http GET /v1/q via a", allow: "user")) == [
                "q.lua:6: @http: each call costs the service outside, so say how often a caller may, e.g. "
                    + "@rate 10/60 s user"
            ])
    }

    @Test(arguments: ["via b", "via a cache 2", ""])
    func allRoutesSayTheSame(_ other: String) {
        let file = OutsideTests.asker("@http GET /v1/q via a\n@http GET /v1/r \(other)")
        #expect(problems(file) == ["q.lua:7: @http: all routes of a command say the same behind via"])
    }

    @Test(arguments: [
        ("{}", true), (#"{"a":[1,{"b":null}]}"#, true), ("[]", false), ("", false), ("x", false), ("{} {}", false),
        (#"{"a":[[[[1]]]]}"#, false),
    ])
    func anAnswerFromOutsideIsOneObject(_ text: String, _ isTaken: Bool) {
        let answer = CommandAnswer(outside: bytes(text), limits: JSON.Limits(depthMax: 4, elementsMax: 9))
        #expect((answer != nil) == isTaken && (answer.map { $0.json == bytes(text) } ?? true))
    }
}
