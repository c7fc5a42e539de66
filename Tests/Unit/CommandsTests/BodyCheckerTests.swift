import Foundation
import Scripts
import Testing

@testable import Commands

/// What `check` finds in bodies without running them.
@Suite struct BodyCheckerTests {
    private func mistakes(_ body: String, _ more: String = "") throws -> [String] {
        let lines =
            "@command a\n@summary S.\n@allow user|worker\n@arg shopId id\n@arg size int 1..9 as box_size\n"
            + "@key box shop:{shopId}#box\n@topic user:*\n@calls a\n@errors full\n@returns {}\n@cost O(1)\n@weight 1\n"
            + more
        return try catalogue(script("a", lines, body: body)).bodyMistakes.map(\.description)
    }

    /// Undeclared keys, calls, errors and `redis.call` were found only when a caller met them.
    @Test(arguments: [
        ("read('GET', key.boxx)", "key.boxx is no @key of the header; did you mean box?"),
        ("local x = args.shopID", "args.shopID is no @arg of the header; did you mean shopId?"),
        ("redis.call('DEL', key.box)", "redis is not there: a body reads by read() and writes by write()"),
        ("read('GET', KEYS[1])", "KEYS is not there: a body finds its keys as key.NAME, declared by @key"),
        ("local x = random", "random is there with @random only"),
        ("local x = math.random(5)", "math.random: the only chance is random, with @random"),
        ("later('b', {})", "later: \"b\" is in no @calls of the header"),
        ("emit('shop:' .. args.shopId, 'e', {})", "emit: no @topic of the header is in \"shop\""),
        ("tell_now('shop:' .. args.shopId, 'e', {})", "tell_now: no @topic of the header is in \"shop\""),
        ("emit('user:ann', 'said', {})", "emit: \"said\" is in no @emits of the header"),
        ("fail('ful', 'x')", "fail: \"ful\" is in no @errors of the header; did you mean full?"),
        ("local t = os.time()", "os is not there: the only clock is now_ms"),
        ("emit_eech({}, 'e', {})", "emit_eech is no local and no word of a body; did you mean emit_each?"),
        ("total = 1", "total is no local, and there are no globals: write local total"),
        (
            "if caller.id == 'x' then end",
            "caller.id is not there; there are caller.guest, caller.name, caller.role, caller.user"
        ),
        (
            "local x = args.box_size",
            "args.box_size is no @arg of the header; box_size is its name on the wire, here it "
                + "is args.size"
        ),
        (
            "read('HSET', key.box)",
            "read: \"HSET\" is no command to read by; lua/README.md lists them; write() takes it"
        ),
        (
            "write('HMSET', key.box)",
            "write: \"HMSET\" is no command to write by; lua/README.md lists them; did you mean HSET?"
        ),
        (
            "write('GET', key.box)",
            "write: \"GET\" is no command to write by; lua/README.md lists them; read() takes it"
        ),
        (
            "emit_each({'user:ann', 'usr:bob'}, 'e', {})",
            "emit_each: no @topic of the header is in \"usr\"; did you mean user?"
        ),
        (
            "local t = {} for i = 1, 9 do t[#t + 1] = 'shop:' .. i end emit_each(t, 'e', {})",
            "emit_each: no @topic of the header is in \"shop\""
        ),
        (
            "local t = {'user:a', 'shop:b'} emit_each(t, 'e', {})",
            "emit_each: no @topic of the header is in \"shop\""
        ),
        (
            "local t = {} table.insert(t, 1, 'shop:b') emit_each(t, 'e', {})",
            "emit_each: no @topic of the header is in \"shop\""
        ),
        (
            "local t = 'shop:' .. args.shopId emit(t, 'e', {})",
            "emit: no @topic of the header is in \"shop\""
        ),
        ("admit('user:ann', 'ann')", "admit is there with @members only"),
        ("mint()", "mint is there with @mint only"),
        ("local a = 1 _b(a)", "_b is no local and no word of a body"),
    ])
    func aMistakeIsToldByItsLine(_ line: String, _ message: String) throws {
        #expect(try mistakes("local ok = 1\n\(line)\nreturn {}\n") == ["a.lua:14: " + message])
    }

    /// Clients got an event of which neither OpenAPI nor their types knew.
    @Test func anEventOfAnotherNameIsTold() throws {
        let body = """
            emit('user:ann', 'box:putt', {})
            emit_each({'user:bob'}, 'box:put', {})
            emit('user:ann', args.shopId, {})

            """
        #expect(
            try mistakes(body, "@emits box:put {}\n") == [
                "a.lua:14: emit: \"box:putt\" is in no @emits of the header; did you mean box:put?"
            ])
    }

    /// A call with a wrong argument passed the check, and became a dead letter once the worker made it.
    @Test(arguments: [
        ("{shopID = 'x', shopId = 'x', box_size = 2}", "\"shopID\" is no argument of a; did you mean shopId?"),
        ("{shopId = 'x', size = 2, box_size = 2}", "\"size\" is no argument of a; on the wire it is box_size"),
        ("{shopId = 'x'}", "'box_size' of a is missing"),
        ("{shopId = 'x', box_size = nil}", "'box_size' of a is missing"),
        ("{shopId = 'x', box_size = 12}", "'box_size' of a must be a whole number from 1 to 9; got 12"),
        ("{shopId = 'x', box_size = -1}", "'box_size' of a must be a whole number from 1 to 9; got -1"),
        ("{shopId = 'x', ['box_size'] = 'two'}", "'box_size' of a must be a whole number from 1 to 9; got \"two\""),
        ("{shopId = 'x', box_size = true}", "'box_size' of a must be a whole number from 1 to 9; got true"),
        ("{'x', 2}", "a takes arguments by name, as in {shopId = ...}"),
        ("5", "the arguments of a are a table with names, not 5"),
        ("nil", "the arguments of a are a table with names, not nil"),
    ])
    func aCallOfLaterWithAWrongArgumentIsToldByItsLine(_ arguments: String, _ message: String) throws {
        #expect(try mistakes("local ok = 1\nlater('a', \(arguments))\n") == ["a.lua:14: later: " + message])
    }

    @Test func aCallOfLaterWithoutArgumentsIsTold() throws {
        #expect(
            try mistakes("later('a')\n") == ["a.lua:13: later: the arguments of a are missing; {} gives none"])
    }

    @Test func aTopicWhoseMembersAreChangedIsOneOfTheHeader() throws {
        #expect(
            try mistakes("admit('shop:' .. args.shopId, 'ann')\nreturn {}\n", "@members\n") == [
                "a.lua:14: admit: no @topic of the header is in \"shop\""
            ])
        #expect(try mistakes("expel('user:' .. args.shopId, 'ann')\nreturn {}\n", "@members\n") == [])
    }

    @Test func aReadonlyBodyWritesNothing() throws {
        let reader = script(
            "r",
            "@command r\n@summary S.\n@allow user\n@arg shopId id\n@key box shop:{shopId}#box\n@returns {}\n"
                + "@cost O(1)\n@readonly", body: "write('SADD', key.box, 'x')\nreturn {}\n")
        #expect(try catalogue(reader).bodyMistakes.map(\.description) == ["r.lua:9: write: the header says @readonly"])
    }

    @Test(arguments: [
        "-- redis.call\nreturn {}", "--[[ redis.call\n args.x ]] return {}", "local s = 'redis.call(KEYS[1])'",
        "local s = [==[ key.x ]] ]==]", "local redis = 1 return {a = redis}", "return {redis = 1, key = 2, os = 3}",
        "local t = {key = 1} return {a = t.key, b = t.random}", "local function random() end random()",
        "fail('full', 'x')", "fail('bad_request', 'x')", "fail('not_found', 'x')",
        "later('a', {shopId = 'x', box_size = 2})", "later('a', {['shopId'] = 7, box_size = -2 + 3, id = 'op'})",
        "local t = {} later('a', t) later('a', '{\"x\":1}') later('a', {shopId = 'x', [1 .. ''] = 2})",
        "later('a', {shopId = args.shopId or 'x', box_size = read('SCARD', key.box), id = (function(a, b) return a end)()})",
        "later('a', {shopId = {'no', 'id'} and 'x'; box_size = tonumber('2'),})",
        "local function each(f, list) for i, one in ipairs(list) do f(one, i) end end each(tostring, {1})",
        "local a, b = 1, {c = 2; d = 3} return {a = a + b.c, e = function(x, ...) return x end}",
        "local x = read('X' .. 'Y', key.box)", "local name = 'GET' local x = read(name, key.box)",
        "emit_each({'user:a', 'user:' .. args.shopId}, 'e', {{a = 'shop:1'}, {}})",
        "local t = {'user:a', n = {'shop:b'}} t['shop:1'] = 'user:b' emit_each(t, 'e', {})",
        "local t = {} if t[1] == 'shop:1' then table.insert(t, 'user:' .. 'shop:1') end emit_each(t, 'e', {})",
        "local t = 'shop:1' local function f(t) emit(t, 'e', {}) end f('user:1')",
        "local t = {t = 'shop:1'} emit(t.t, 'e', {}) emit_each({'user', args.shopId}, 'e', {})",
        "emit('user:' .. args.shopId, 'e', {})", "local n = args['x']", "local s = \"it's \\\" key.x\"",
    ])
    func whatIsRightIsNotTold(_ body: String) throws {
        #expect(try mistakes(body, "@emits e {}\n") == [])
    }

    @Test(arguments: [
        "'", "\"\\", "[[", "--[[", "[==", "key.", "args", "fail(", "emit('", "later('a", "--", "key", "\0\u{e9}",
        "emit_each({'a:", "later('a', {", "later('a', {shopId =", "later('a', {[", "later('a', {['x'", "later('a',",
        "local t t[ emit(t,", "table.insert(t", "local t = emit(t, 1", "local t t = {{ emit_each(t,",
    ])
    func halfATextIsNoTrap(_ body: String) throws {
        _ = try mistakes(body)
    }

    @Test func anUnfinishedTextHidesNothingBehindItsLine() throws {
        #expect(
            try mistakes("local s = 'open\nlocal t = os.time()") == [
                "a.lua:14: os is not there: the only clock is now_ms"
            ])
    }

    /// A word that the guide teaches and the check does not know would be called a mistake.
    @Test func theCheckKnowsEveryWordOfTheGuide() throws {
        let guide = try String(contentsOfFile: EmbeddedFilesTests.folder + "/../docs/scripts/body.md", encoding: .utf8)
        let chapter = try #require(guide.components(separatedBy: "## The words of a body").dropFirst().first)
        let rows = chapter.components(separatedBy: "\n### ")[0].split(separator: "\n").filter { $0.hasPrefix("| `") }
        let words = rows.flatMap { row in
            row.split(separator: "|")[0].split(separator: "`").map {
                $0.prefix { $0.isLetter || $0 == "_" || $0.isNumber }
            }
        }
        let unknown = words.filter { !$0.isEmpty && !BodyWords.known.contains(String($0)) }
        #expect(unknown == [] && rows.count > 20)
        #expect(
            BodyWords.reads.contains("HMGET") && BodyWords.reads.contains("MGET") && BodyWords.writes.contains("XADD"))
        #expect(BodyWords.reads.count > 50 && BodyWords.writes.count > 40)
    }

    @Test func everyBuiltInBodyIsRight() throws {
        let library = try everyPack.get()
        #expect(library.catalogue.bodyMistakes.map(\.description) == [])
        #expect(library.catalogue.commands.count > 100)
    }
}
