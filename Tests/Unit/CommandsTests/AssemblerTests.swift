import RedisLink
import Testing

@testable import Commands

/// The text that is loaded, and how its lines are told.
@Suite struct AssemblerTests {
    private let assembler = ScriptAssembler(
        prelude: ScriptFile(name: "prelude", path: "core/prelude.lua", bytes: bytes("-- p1\n-- p2\n")),
        command: [ScriptFile(name: "command", path: "command.lua", bytes: bytes("-- c1\n"))],
        outside: nil,
        subscribe: ScriptFile(name: "subscribe", path: "core/subscribe.lua", bytes: bytes("-- s1\n")),
        position: ScriptFile(name: "position", path: "core/position.lua", bytes: bytes("-- o1\n")),
        quick: ["publish": ScriptFile(name: "quick", path: "quick.lua", bytes: bytes("-- q1\n"))])

    private static let whole = script(
        "full",
        """
        @command full
        @summary S.
        @allow user
        @arg shopId id
        @arg points int 0..9
        @arg ratio number optional
        @arg open bool
        @arg friends ids 0..9 optional
        @arg at time
        @arg note json 100 3 = {}
        @key tracks dj:{shopId}#tracks
        @key queue queue:{shopId}
        @topic shop:{shopId}
        @topic user:*
        @topic dj:{shopId}
        @calls other
        @returns {}
        @cost O(1)
        """, body: "return {\n  a = 1}")

    @Test func theGeneratedLinesNameWhatTheHeaderNames() throws {
        let full = try #require(try catalogue(AssemblerTests.whole, command("other")).command(named: "full"))
        #expect(
            GeneratedLua.lines(full) == [
                "key = {tracks = KEYS[7], queue = KEYS[8]}",
                "first_key, last_key = 7, 8",
                "known = {[KEYS[7]] = false, [KEYS[8]] = false}",
                "args = {shopId = ARGV[25], points = tonumber(ARGV[26]), open = ARGV[28] == '1', at = tonumber(ARGV[30]), "
                    + "note = ARGV[31]}",
                "if given(3) then args.ratio = tonumber(ARGV[27]) end",
                "if given(5) then args.friends = ids_of(ARGV[29]) end",
                "optional = ' ratio friends '",
                "homes = {[ARGV[13]] = {log = KEYS[3], meta = KEYS[4], channel = ARGV[14], log_max = ARGV[15], "
                    + "log_ttl_s = ARGV[16], meta_ttl_s = ARGV[17], top = ARGV[18], last = false}, "
                    + "[ARGV[19]] = {log = KEYS[5], "
                    + "meta = KEYS[6], channel = ARGV[20], log_max = ARGV[21], log_ttl_s = ARGV[22], "
                    + "meta_ttl_s = ARGV[23], top = ARGV[24], last = false}}",
                "foreign = {['user'] = true}",
                "callable = {['other'] = true}",
            ])
    }

    @Test func whatWouldBeEmptyIsLeftOutAndARefreshHasAFence() throws {
        let all = try catalogue(
            reader("none", ""),
            script("r", "@refresh shop:{shopId}#b\n@summary S.\n@cost O(1)\n@arg shopId id\n@key b shop:{shopId}#b"))
        #expect(GeneratedLua.lines(try #require(all.command(named: "none"))) == ["readonly = true"])
        #expect(
            GeneratedLua.lines(try #require(all.refresh(named: "r"))) == [
                "key = {b = KEYS[3]}", "first_key, last_key = 3, 3", "known = {[KEYS[3]] = false}",
                "args = {shopId = ARGV[13]}", "fence, check_lease = KEYS[4], check_fence",
            ])
    }

    @Test func aScriptIsPutTogetherAndItsLinesAreToldByFile() throws {
        let other = command("other")
        let all = try catalogue(AssemblerTests.whole, other)
        let script = assembler.script(try #require(all.command(named: "full")))
        #expect(script.name == "command/full")
        let lines = script.text.split(separator: 0x0a, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        #expect(
            lines.prefix(6).map(\.self) == [
                "-- p1", "-- p2", "", "-- c1", "", "key = {tracks = KEYS[7], queue = KEYS[8]}",
            ])
        let body = try #require(lines.firstIndex(of: "local function command()")) + 2
        #expect(lines[body - 1] == "local " + GeneratedLua.hidden)
        #expect(script.bodyLineOffset == body)
        #expect(lines[body] == "-- @command full")
        #expect(lines.suffix(5).map(\.self) == ["return {", "  a = 1}", "end", "return run(command)", ""])

        // Line 20 of the file is its last; what follows belongs to nobody.
        #expect(script.translate("user_script:\(body + 20): boom") == "full.lua:20: boom")
        #expect(
            script.translate("ERR user_script:\(body + 19): in (user_script:2, user_script:4)")
                == "ERR full.lua:19: in (core/prelude.lua:2, command.lua:1)")
        #expect(script.translate("user_script:\(body + 21): x") == "user_script:\(body + 21): x")
        #expect(script.translate("user_script:6: x") == "user_script:6: x", "a generated line")
        for odd in ["", "user_script:", "user_script:99999999999999999999", "user_script:0", "user_script:x1"] {
            #expect(script.translate(odd) == odd)
        }
    }

    @Test func whatDoesNotCompileIsToldByTheAuthorsFile() throws {
        let all = try catalogue(AssemblerTests.whole, command("other"))
        let script = assembler.script(try #require(all.command(named: "full")))
        let body = script.bodyLineOffset
        func fault(_ line: Int, _ text: String) -> String {
            script.compileFault("ERR Error compiling script (new function): user_script:\(line): \(text)")
        }
        #expect(fault(body + 19, "'=' expected near 'x'") == "full.lua:19: '=' expected near 'x'")
        #expect(
            fault(body + 21, "'end' expected (to close 'if' at line \(body + 19)) near '<eof>'")
                == "full.lua:20: 'end' expected (to close 'if' at line 19) near '<eof>'")
        #expect(
            fault(body + 22, "'end' expected (to close 'function' at line \(body - 1)) near '<eof>'")
                == "full.lua:20: 'end' expected (to close 'function' that holds the file) near '<eof>'")
        #expect(fault(2, "x") == "core/prelude.lua:2: x")
        #expect(fault(6, "x") == "full.lua:1: x", "a generated line")
        for odd in ["", "NOPERM no", "user_script:", "user_script:99999999999999999999: x"] {
            #expect(script.compileFault(odd) == odd)
        }
    }

    @Test func everyScriptOfACatalogueHasAName() throws {
        let all = try catalogue(
            command("b"), command("a"), script("publish", "@summary S."),
            script("state_shop", "@state shop\n@summary S.\n@key c queue:{id}\n@cost O(1)", body: "-- st\n"),
            script("r", "@refresh shop:{shopId}#b\n@summary S.\n@cost O(1)\n@arg shopId id\n@key b shop:{shopId}#b"))
        let scripts = assembler.scripts(all)
        let names = ["command/a", "command/b", "refresh/r", "state/shop", "position/shop", "publish"]
        #expect(scripts.map(\.name) == names)
        let state = scripts[3]
        #expect(text(state.text)?.hasPrefix("-- p1\n-- p2\n\n-- @state shop\n") == true)
        #expect(text(state.text)?.hasSuffix("-- st\n\n-- s1\n\n") == true)
        #expect(text(scripts[4].text)?.hasSuffix("-- st\n\n-- o1\n\n") == true)
        // The common case of a plain script stands before everything, and its lines are told by its own file.
        #expect(text(scripts[5].text)?.hasPrefix("-- q1\n\n-- p1\n-- p2\n\n") == true)
        #expect(scripts[5].translate("user_script:1: x") == "quick.lua:1: x")
        #expect(scripts[5].translate("user_script:4: x") == "core/prelude.lua:2: x")
        let table = try ScriptTable(scripts)
        #expect(table.registry.scripts.map(\.name) == scripts.map(\.name))
        #expect(table["refresh/r"]?.source == scripts[2])
        #expect(table["refresh/r"]?.id == table.registry.script(named: "refresh/r"))
        #expect(table["r"] == nil)
    }
}
