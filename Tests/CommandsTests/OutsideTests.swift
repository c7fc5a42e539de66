import Core
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
        ("call_out('spotify', {'x', 'y'}, 'found', {1, 'z'})", ""),
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

    @Test func theWordNeedsItsTag() throws {
        let file = ScriptFile(name: "b", path: "b.lua", bytes: command("b").bytes + bytes("call_out('x', {}, 'y')\n"))
        #expect(
            try catalogue(file).bodyMistakes.map(\.description) == ["b.lua:9: call_out is there with @call_out only"])
    }

    /// The generated names and the built call agree on the places, behind those of members.
    @Test func theStreamsStandBehindTheMembers() throws {
        let file = OutsideTests.caller("spotify found", more: "@call_out mail found\n@topic dj:{shopId}\n@members")
        let descriptor = try #require(try catalogue(file, OutsideTests.found()).command(named: "a"))
        let settings = CommandSettings(
            keys: Keys(prefix: bytes("p:")), policies: NamespacePolicy.defaults, outboxMax: 1, doneSeconds: 1,
            membersMax: 9, callsMax: 7, answerLimits: JSON.Limits(depthMax: 4, elementsMax: 9), answerBytesMax: 9,
            nowMs: { 0 })
        let moment = CommandCallBuilder.Moment(nowMs: 1, run: bytes("r"), epoch: bytes("e"), random: [])
        let bound = try bind(descriptor, #"{"shopId":"1"}"#)
        let call = try #require(
            CommandCallBuilder(settings).call(
                descriptor, bound, caller: service, operation: nil, fence: nil, moment))
        #expect(call.keys.suffix(2).map { text($0) } == ["p:#calls:mail", "p:#calls:spotify"])
        #expect(text(call.arguments.last) == "7")
        let lines = GeneratedLua.lines(descriptor)
        #expect(lines.contains("calls_max = tonumber(ARGV[\(call.arguments.count)])"))
        let stream = "['spotify'] = {stream = KEYS[\(call.keys.count)], waiting = 0, commands = {found = true}}"
        #expect(lines.contains { $0.contains(stream) }, "\(lines)")
    }
}
