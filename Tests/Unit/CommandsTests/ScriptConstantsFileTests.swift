import Scripts
import Testing

@testable import Commands

/// The numbers of `constants.lua` in place of their names.
@Suite struct ScriptConstantsFileTests {
    private func file(_ pack: String, _ name: String, _ text: String) -> ScriptFile {
        ScriptFile(name: name, path: "\(pack)/\(name).lua", bytes: bytes(text), pack: pack)
    }

    private func constants(_ core: String, _ pack: String = "", problems: inout [ScriptProblem]) -> ScriptConstants {
        ScriptConstants([file("shop", "constants", pack), file("core", "constants", core)], problems: &problems)
    }

    /// The text that Redis gets for a body, and then the problems of it.
    private func replaced(_ pack: String, _ body: String) -> [String] {
        var problems: [ScriptProblem] = []
        let known = constants("A_MAX = 5 -- a\n", "B_MS = 0.01 -- b\n", problems: &problems)
        let script = known.replaced(in: file(pack, "x", body), &problems)
        return [String(decoding: script.bytes, as: UTF8.self)] + problems.map(\.description)
    }

    @Test func aNumberStandsInPlaceOfItsName() {
        let head = "-- A_MAX\nlocal a = "
        let tail = " --[[ A_MAX\n]] .. 'A_MAX' .. [[B_MS]]\nreturn A_MAX_S, XA_MAX,"
        let (body, done) = (head + "A_MAX + B_MS" + tail + "A_MAX", head + "5 + 0.01" + tail + "5")
        #expect(replaced("shop", body) == [done])
    }

    @Test func aRangeOfAnArgumentEndsWithANumber() {
        let head = "-- @command x\n-- @arg a string 1..A_MAX -- at most A_MAX\nreturn A_MAX"
        let done = "-- @command x\n-- @arg a string 1..5 -- at most A_MAX\nreturn 5"
        #expect(replaced("shop", head) == [done])
    }

    @Test func anOperatorChoosesWithinTheRange() {
        func chosen(_ texts: String...) -> (text: String, problems: [String]) {
            var problems: [ScriptProblem] = []
            var known = constants("", "B_MAX = 5 -- b (1..9)\nC_MAX = 5 -- c\n", problems: &problems)
            known.choose(texts, problems: &problems)
            let script = known.replaced(in: file("shop", "x", "return B_MAX"), &problems)
            return (String(decoding: script.bytes, as: UTF8.self), problems.map(\.message))
        }
        #expect(chosen("shop.B_MAX=9").text == "return 9" && chosen("shop.B_MAX=9").problems.isEmpty)
        for wrong in ["shop.B_MAX=10", "shop.B_MAX=0", "shop.B_MAX=x", "shop.C_MAX=5", "B_MAX=5", "shop.B_MAX", ""] {
            #expect(chosen(wrong).text == "return 5" && chosen(wrong).problems.count == 1, "\(wrong)")
        }
    }

    @Test func aPackHasItsOwnAndThoseOfCore() {
        #expect(replaced("core", "return A_MAX, B_MS") == ["return 5, B_MS"])
        #expect(replaced("other", "return A_MAX, B_MS") == ["return 5, B_MS"])
    }

    /// An operator's script may have had a name of its own before the gateway shared one.
    @Test func operatorsScriptsStayAsTheyAre() {
        #expect(replaced("", "local A_MAX = 7\nreturn A_MAX") == ["local A_MAX = 7\nreturn A_MAX"])
    }

    @Test(arguments: [
        "\nlocal A_MAX = 5", "local x\nlocal x, A_MAX = 1, 2", "\nfor A_MAX = 1, 2 do end",
        "\nlocal function A_MAX() end", "\nlocal function f(A_MAX) end",
    ])
    func aSharedNameIsDeclaredNowhereElse(_ body: String) {
        let problem = "shop/x.lua:2: A_MAX is a constant that packs share (constants.lua); give this one another name"
        #expect(Array(replaced("shop", body).dropFirst()) == [problem])
    }

    @Test(arguments: [
        "local A_MAX = 5 -- a", "A_MAX = 5", "A_MAX = -5 -- a", "A_MAX = 5. -- a", "A_MAX = 1.2.3 -- a", "a = 5 -- a",
        "A_MAX=5 -- a", "A_MAX = x -- a", "_A = 5 -- a", "A_MAX = 5 --", "return",
    ])
    func everyOtherLineIsAProblem(_ line: String) {
        var problems: [ScriptProblem] = []
        _ = constants("-- Numbers.\n\n\(line)\n", problems: &problems)
        #expect(
            problems.map(\.description) == ["core/constants.lua:3: a constant is written \"NAME = number -- meaning\""])
    }

    @Test func aNameIsGivenOnce() {
        var problems: [ScriptProblem] = []
        _ = constants("A = 1 -- a\nA = 1 -- a\n", "B = 2 -- b\nA = 3 -- a\n", problems: &problems)
        let lines = ["core/constants.lua:2", "shop/constants.lua:2"]
        #expect(
            problems.map(\.description)
                == lines.map { $0 + ": A is given twice, in this file or in core/constants.lua" })
    }

    @Test func constantsAreNoScript() {
        #expect(Scripts.constants.contains { $0.path == "core/constants.lua" })
        #expect(!Scripts.files.contains { $0.name == "constants" })
    }
}
