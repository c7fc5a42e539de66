import Testing

@testable import Commands

/// The shared files without the lines of what a script does not name.
@Suite struct SharedTextsTests {
    private let texts = SharedTexts([
        ScriptFile(
            name: "a", path: "a.lua", bytes: bytes("local x\n-- @only iso day\nlocal iso, day = 1, 2\n-- @end\n")),
        ScriptFile(
            name: "b", path: "b.lua",
            bytes: bytes(
                "-- week\nlocal always = each\n-- @only week\nlocal week = iso\n-- @end\n"
                    + "-- @only each\nlocal each\n-- @end\nlocal y")),
    ])

    private func lines(_ own: String) -> [[String]] {
        texts.texts(for: bytes(own)).map { _, text in
            text.split(separator: 0x0a, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    private static let first = ["local x", "-- @only iso day", "local iso, day = 1, 2", "-- @end", ""]

    @Test func whatNobodyNamesIsLeftOutAndNoLineMoves() {
        let all = lines("return isos, Iso, _iso, iso2 -- is\n-- iso day\n   -- day\n")
        #expect(all[0] == ["local x", "", "", "", ""])
        #expect(all[1].count == 9 && all[1].last == "local y")
    }

    @Test func oneOfItsNamesInCodeBringsAPiece() {
        for own in ["return iso(1)", "x=day", "-- \nlocal t = {iso}", "return 1 -- iso", "  day()"] {
            #expect(lines(own)[0] == SharedTextsTests.first, "\(own)")
        }
    }

    @Test func aPieceBringsWhatItNames() {
        let all = lines("week()")
        #expect(all[0] == SharedTextsTests.first)
        #expect(all[1][2...4] == ["-- @only week", "local week = iso", "-- @end"])
    }

    @Test func whatIsAlwaysThereBringsWhatItNames() {
        #expect(lines("")[1][5...7] == ["-- @only each", "local each", "-- @end"])
    }

    /// Where a long comment or text begins, its end and code behind it may stand in a line that looks like a comment.
    @Test func codeBehindALongCommentIsSeen() {
        for own in ["--[[ x\n-- ]] return iso(1)", "local s = [==[\n-- ]==] .. iso(1)"] {
            #expect(lines(own)[0] == SharedTextsTests.first, "\(own)")
        }
    }

    /// A body could have had what it must not reach, and every body got what none may name.
    @Test func aNameThatIsOnlyHiddenBringsNothing() throws {
        var own = ScriptText()
        own.append(lines: ["local function command()"])
        own.hide("redis, iso")
        own.append(lines: ["return 1"])
        #expect(text(own.text) == "local function command()\nlocal redis, iso\nreturn 1\n" && own.lineCount == 3)
        #expect(texts.texts(for: own.naming)[0].bytes == bytes("local x\n\n\n\n"))
    }

    @Test func aScriptsLinesStayWhereTheyAre() throws {
        let assembler = ScriptAssembler(
            prelude: ScriptFile(name: "prelude", path: "prelude.lua", bytes: bytes("-- @only a\nlocal a\n-- @end\n")),
            command: [], outside: nil, subscribe: noFile, position: noFile,
            quick: [:])
        let with = assembler.script(ScriptFile(name: "p", path: "p.lua", bytes: bytes("return a")))
        let without = assembler.script(ScriptFile(name: "p", path: "p.lua", bytes: bytes("return b")))
        #expect(with.parts == without.parts && with.bodyLineOffset == without.bodyLineOffset)
        #expect(text(with.text)?.contains("local a") == true && text(without.text)?.contains("local a") == false)
    }
}
