import Testing

@testable import Commands

/// Parts: Lua that several scripts share.
@Suite struct PartTests {
    private let greet = script("part_greet", "@part greet\n@summary S.", body: "local function greet() end\n")
    private let wave = script("part_wave", "@part wave\n@summary S.", body: "local function wave() end\n")

    @Test func partsStandBeforeTheBodyInTheirOrder() throws {
        let all = try catalogue(
            greet, wave, script("publish", "@summary S."), command("a", "@include wave\n@include greet"))
        let descriptor = try #require(all.command(named: "a"))
        #expect(descriptor.parts == [wave, greet])
        #expect(all.plain.map(\.name) == ["publish"], "a part is no script of its own")
        let assembler = ScriptAssembler(
            prelude: noFile, command: [], outside: nil, subscribe: noFile, position: noFile, quick: [:])
        let assembled = assembler.script(descriptor)
        let lines = String(decoding: assembled.text, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        let first = try #require(lines.firstIndex(of: "local function wave() end"))
        let second = try #require(lines.firstIndex(of: "local function greet() end"))
        let body = try #require(lines.firstIndex(of: "local function command()"))
        #expect(body < first && first < second)
        #expect(assembled.translate("user_script:\(first + 1): boom") == "part_wave.lua:3: boom")
        #expect(assembled.translate("user_script:\(second + 3): boom") == "a.lua:1: boom")
    }

    /// A state could include nothing, so that the state of `dj` and its command told their queue by copies of one text.
    @Test func aStateMayIncludeAPart() throws {
        let state = script("state_shop", "@state shop\n@summary S.\n@include greet\n@key k queue:{id}\n@cost O(1)")
        let all = try catalogue(greet, state)
        let provider = try #require(all.states["shop"])
        #expect(provider.parts == [greet])
        let assembler = ScriptAssembler(
            prelude: noFile, command: [], outside: nil, subscribe: noFile, position: noFile, quick: [:])
        for assembled in assembler.scripts(provider) {
            let lines = String(decoding: assembled.text, as: UTF8.self).split(
                separator: "\n", omittingEmptySubsequences: false)
            let part = try #require(lines.firstIndex(of: "local function greet() end"))
            let own = try #require(lines.firstIndex(of: "-- @state shop"))
            #expect(part < own)
            #expect(assembled.translate("user_script:\(part + 1): boom") == "part_greet.lua:3: boom")
        }
        let wrong = script("state_shop", "@state shop\n@summary S.\n@include greets\n@key k queue:{id}\n@cost O(1)")
        #expect(
            problems(greet, wrong) == ["state_shop.lua:3: @include: there is no part greets; did you mean greet?"])
    }

    @Test func anOperatorsScriptMayIncludeWhatIsBuiltIn() throws {
        let all = try catalogue(greet, operators: [command("own", "@include greet")])
        #expect(all.command(named: "own")?.parts == [greet])
    }

    @Test func anUnknownPartIsToldWithTheNearest() {
        #expect(
            problems(greet, command("a", "@include greets")) == [
                "a.lua:8: @include: there is no part greets; did you mean greet?"
            ])
    }

    @Test func aPartIsIncludedOnce() {
        #expect(
            problems(greet, command("a", "@include greet\n@include greet")) == [
                "a.lua:9: @include: greet is included twice"
            ])
    }

    @Test func aPartHasOneName() {
        let other = script("other", "@part greet\n@summary S.")
        #expect(problems(greet, other) == ["other.lua:1: @part: greet is defined in part_greet.lua"])
    }

    @Test(arguments: ["@key k dj:{id}#x", "@include wave", "@command x", "@errors not_found"])
    func aPartSaysNothingElse(_ tag: String) {
        #expect(!problems(wave, script("p", "@part p\n@summary S.\n" + tag)).isEmpty)
    }

    @Test(arguments: ["@part Greet", "@part a b", "@part", "@part 1a"])
    func aPartsNameIsAName(_ tag: String) {
        #expect(problems(script("p", tag + "\n@summary S.")).first?.hasPrefix("p.lua:1: @part: ") == true)
    }
}
