import Scripts
import Testing

@testable import Commands

/// What headers say about the price of a call: `@weight` and `@rate`.
@Suite struct WeightTests {
    @Test func aCommandSaysItsWeightAndRates() throws {
        let catalogue = try catalogue(command("a", "@weight 300\n@rate 6/60 s user\n@rate 100/86400 s user"))
        let descriptor = try #require(catalogue.command(named: "a"))
        #expect(descriptor.weightMicroseconds == 300 && descriptor.isWeightDeclared)
        #expect(descriptor.rates.map(\.description) == ["6/60 s user", "100/86400 s user"])
        #expect(descriptor.rates.map(\.payer) == [.user, .user])
        #expect(catalogue.weightMicroseconds(of: "command/a") == 300)
    }

    @Test func withoutAWeightOneIsAssumedAndTheOperatorIsTold() throws {
        let catalogue = try Catalogue(
            embedded: [command("a")], operators: [command("b"), command("c", "@weight 1")], namespaces: namespaces,
            reservedPaths: [])
        #expect(catalogue.command(named: "b")?.weightMicroseconds == ScriptWeight.assumed)
        #expect(catalogue.weightMicroseconds(of: "command/b") == 1_000)
        #expect(
            catalogue.hints.map(\.description) == [
                "b.lua:1: no @weight: 1000 is assumed; measure a call at the script's limits and say its microseconds"
            ])
    }

    @Test(arguments: ["0", "1000001", "-5", "12 us", "a lot", "1.5"])
    func aWeightIsMicrosecondsWithinBounds(_ text: String) {
        #expect(
            problems(command("a", "@weight " + text)) == [
                "a.lua:8: @weight: expected the microseconds that Redis takes at the script's limits, 1 to 1000000, "
                    + "e.g. 300"
            ])
    }

    @Test(arguments: [
        ("6/60 s", "expected calls, seconds, the unit s and who is counted, e.g. 6/60 s user"),
        ("6/60 ms user", "expected calls, seconds, the unit s and who is counted, e.g. 6/60 s user"),
        ("6 60 s user", "expected calls, seconds, the unit s and who is counted, e.g. 6/60 s user"),
        ("0/60 s user", "the calls must be 1 to 1000000, not 0"),
        ("6/86401 s user", "the seconds must be 1 to 86400, not 86401"),
        ("6/60 s usr", "\"usr\" cannot be counted; a rate counts by user, address, key; did you mean user?"),
        ("6/60 s address", "address is who calls as anonymous, and no anonymous may call this"),
    ])
    func aRateIsBoundedAndCountsWhoMayCall(_ text: String, _ message: String) {
        #expect(problems(command("a", "@rate " + text)) == ["a.lua:8: @rate: " + message])
    }

    @Test func aRateIsGivenOnce() {
        #expect(
            problems(command("a", "@rate 6/60 s user\n@rate 6/60 s user")) == [
                "a.lua:9: @rate: 6/60 s user is given twice"
            ])
    }

    /// A join with a state costs the position and the state; its weight is both.
    @Test func aStateIsPaidWithThePositionItIsReadWith() throws {
        let state = script("state_dj", "@summary S.\n@state dj\n@key tracks dj:{id}#tracks\n@cost O(1)\n@weight 700")
        let catalogue = try catalogue(
            state, script("subscribe", "@summary S.\n@weight 50"), script("position", "@summary P.\n@weight 20"))
        #expect(catalogue.states["dj"]?.weightMicroseconds == 700)
        #expect(catalogue.weightMicroseconds(of: "subscribe") == 50)
        #expect(catalogue.weightMicroseconds(of: "state/dj") == 750)
        #expect(catalogue.weightMicroseconds(of: "position/dj") == 720)
        #expect(catalogue.weightMicroseconds(of: "unheard_of") == ScriptWeight.assumed)
    }

    /// Whoever pays for a call must know its price: every built-in script says one.
    @Test(arguments: Scripts.files.map(\.path)) func everyBuiltInScriptSaysItsWeight(_ path: String) throws {
        let file = try #require(Scripts.files.first { $0.path == path })
        var problems: [ScriptProblem] = []
        let constants = ScriptConstants(Scripts.constants.map { ScriptFile($0) }, problems: &problems)
        let header = ScriptHeader(constants.replaced(in: ScriptFile(file), &problems), problems: &problems)
        let says = header.tags.contains { tag in
            if case .weight = tag.value { return true }
            return false
        }
        #expect(says || header.kind == .part)
        #expect(problems == [])
    }
}
