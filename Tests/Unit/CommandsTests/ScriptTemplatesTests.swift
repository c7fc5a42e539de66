import Scripts
import Testing

@testable import Commands

/// The texts of `format.lua` in place of their uses.
@Suite struct ScriptTemplatesTests {
    private static let format = """
        -- Forms.

        -- @inline message epoch id = 'P' .. epoch .. ' ' .. id .. '\\n'
        -- @inline entry id now_ms = 'i', id, 't', now_ms
        -- @inline spare ttl = math.ceil(ttl / 8)
        """

    private func file(_ text: String, pack: String = "core", name: String = "x") -> ScriptFile {
        ScriptFile(name: name, path: "\(pack)/\(name).lua", bytes: bytes(text), pack: pack)
    }

    /// The text that Redis gets for a body, and then the problems of it.
    private func expanded(_ body: String, pack: String = "core") -> [String] {
        var problems: [ScriptProblem] = []
        let templates = ScriptTemplates(file(ScriptTemplatesTests.format), problems: &problems)
        let script = templates.expanded(in: file(body, pack: pack), &problems)
        return [String(decoding: script.bytes, as: UTF8.self)] + problems.map(\.description)
    }

    @Test(arguments: [
        ("return inline.message(epoch, a.id)", "return 'P' .. epoch .. ' ' .. a.id .. '\\n'"),
        (
            "send(inline.message(plan.epoch, plan.id .. (plan.origin or '')))",
            "send('P' .. plan.epoch .. ' ' .. plan.id .. (plan.origin or '') .. '\\n')"
        ),
        ("add(inline.entry('-', 5), 1)", "add('i', '-', 't', 5, 1)"),
        ("a = inline.spare( ttl ) + inline.spare(8)", "a = math.ceil(ttl / 8) + math.ceil(8 / 8)"),
    ])
    func aTemplatesTextStandsInPlaceOfItsUse(_ body: String, _ text: String) {
        #expect(expanded(body) == [text])
    }

    @Test func adjacentLiteralsBecomeOne() {
        #expect(expanded("return inline.message(e, '-')") == ["return 'P' .. e .. ' -\\n'"])
        #expect(expanded("return inline.message('a', '-')") == ["return 'Pa -\\n'"])
        #expect(expanded("return inline.message('\\1', '2')") == ["return 'P\\1 2\\n'"])
        #expect(expanded("return inline.message('a\\1' .. '2', b)") == ["return 'Pa\\1' .. '2 ' .. b .. '\\n'"])
    }

    @Test func commentsTextsAndOtherPacksStayAsTheyAre() {
        let body = "-- inline.spare(1)\nreturn 'inline.spare(1)', [[inline.spare(1)]], inlined.spare(1)"
        #expect(expanded(body) == [body])
        #expect(expanded("return inline.spare(ttl)", pack: "shop") == ["return inline.spare(ttl)"])
    }

    @Test(arguments: [
        ("inline", "a template is used as inline.NAME(ARGUMENT, ...), on one line"),
        ("inline.spare", "a template is used as inline.NAME(ARGUMENT, ...), on one line"),
        ("inline.spare(a", "a template is used as inline.NAME(ARGUMENT, ...), on one line"),
        ("inline.spare(\na)", "a template is used as inline.NAME(ARGUMENT, ...), on one line"),
        ("inline.spar(a)", "there is no template spar; did you mean spare?"),
        ("inline.spare()", "inline.spare: ttl must be a name, a field or a literal"),
        ("inline.spare(a, b)", "inline.spare takes (ttl), not 2 arguments"),
        ("inline.entry(a)", "inline.entry takes (id, now_ms), not 1 arguments"),
        ("inline.spare(a .. b)", "inline.spare: ttl must be a name, a field or a literal"),
        ("inline.spare(f(a))", "inline.spare: ttl must be a name, a field or a literal"),
        ("inline.entry(f(a, b), c)", "inline.entry: id must be a name, a field, a literal or a join of them"),
        ("inline.entry(a + b, c)", "inline.entry: id must be a name, a field, a literal or a join of them"),
        ("inline.entry(a[1], c)", "inline.entry: id must be a name, a field, a literal or a join of them"),
        ("inline.entry(a ..b.. , c)", "inline.entry: id must be a name, a field, a literal or a join of them"),
        ("inline.entry((a and b), c)", "inline.entry: id must be a name, a field, a literal or a join of them"),
    ])
    func everyOtherUseIsAProblem(_ use: String, _ problem: String) {
        #expect(expanded("\nreturn \(use)").dropFirst() == ["core/x.lua:2: \(problem)"])
    }

    @Test(arguments: [
        ("x", "a template is written \"-- @inline NAME PARAMETER... = TEXT\""),
        ("-- @inlined a b = b", "a template is written \"-- @inline NAME PARAMETER... = TEXT\""),
        ("-- @inline a b", "a template is written \"-- @inline NAME PARAMETER... = TEXT\""),
        ("-- @inline a = 5", "a template is written \"-- @inline NAME PARAMETER... = TEXT\""),
        ("-- @inline a b.c = b.c", "a template is written \"-- @inline NAME PARAMETER... = TEXT\""),
        ("-- @inline a b b = b", "a has a parameter twice"),
        ("-- @inline a b c = b", "a does not use its parameter c"),
        ("-- @inline a b c = b, 'c'", "a does not use its parameter c"),
        ("-- @inline spare a = a", "spare is given twice"),
    ])
    func everyOtherLineIsAProblem(_ line: String, _ problem: String) {
        var problems: [ScriptProblem] = []
        let text = ScriptTemplatesTests.format + "\n\(line)\n"
        _ = ScriptTemplates(file(text, name: "format"), problems: &problems)
        #expect(problems.map(\.description) == ["core/format.lua:6: \(problem)"])
    }

    @Test func templatesAreNoScript() {
        #expect(Scripts.templates.path == "core/format.lua")
        #expect(!Scripts.files.contains { $0.path == Scripts.templates.path })
    }
}
