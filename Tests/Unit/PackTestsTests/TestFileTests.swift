import Commands
import Core
import Testing

@testable import PackTests

/// The form of a file of tests, and the messages about its mistakes.
@Suite struct TestFileTests {
    private func problems(_ text: String) -> [String] {
        TestFile(path: "t.json", bytes: Array(text.utf8)).problems.map(\.description)
    }

    private func stepProblems(_ step: String) -> [String] {
        problems("{\"as\": \"service\", \"cases\": [{\"name\": \"a\", \"steps\": [\n" + step + "]}]}")
    }

    @Test func aWholeFileIsRead() {
        let file = TestFile(
            path: "t.json",
            bytes: Array(
                """
                {"as": "user:ann", "before": [{"call": "a"}], "cases": [
                  {"name": "one", "steps": [{"wait": "90s"}, {"key": "a:1#b", "value": null}]},
                  {"name": "two", "now": "1970-01-01T00:00:01Z", "steps": [{"join": "a:1", "state": {}}]}
                ]}
                """.utf8))
        #expect(file.problems == [])
        #expect(file.cases.map(\.name) == ["one", "two"] && file.cases.map(\.line) == [2, 3])
        #expect(file.cases[0].steps.map(\.kind) == [.call, .wait, .key])
        #expect(file.cases.map(\.startMs) == [TestFile.startMs, 1_000])
    }

    @Test(arguments: [
        ("{\"call\": \"a\", \"wait\": \"1s\"}", "a step has exactly one of"),
        ("{\"call\": 5}", "\"call\" must be a text"),
        ("{\"call\": \"a\", \"with\": []}", "\"with\" must be an object"),
        ("{\"call\": \"a\", \"answer\": {}, \"error\": \"b\"}", "a step has \"answer\" or \"error\", not both"),
        ("{\"call\": \"a\", \"message\": \"b\"}", "\"message\" is the sentence of an \"error\""),
        ("{\"wait\": \"1 s\"}", "\"wait\" must be a time"),
        ("{\"wait\": \"1s\", \"events\": [], \"eventsInclude\": []}", "\"events\" or \"eventsInclude\", not both"),
        ("{\"wait\": \"1s\", \"dead\": \"a\"}", "\"dead\" must be a list"),
        ("{\"redis\": []}", "\"redis\" must be a list of words"),
        ("{\"redis\": [\"SET\", null]}", "\"redis\" must be a list of words"),
        ("{\"publish\": \"a:1\"}", "needs \"event\""),
        ("{\"service\": \"a\", \"failed\": false}", "\"failed\" must be true"),
    ])
    func aWrongStepIsToldByItsLine(_ step: String, _ message: String) {
        let found = stepProblems(step)
        #expect(found.count == 1 && found[0].hasPrefix("t.json:2: ") && found[0].contains(message), "\(found)")
    }

    @Test(arguments: [
        ("250ms", 250), ("0ms", 0), ("90s", 90_000), ("15m", 900_000), ("7d", 604_800_000), ("s", nil), ("ms", nil),
        ("-1s", nil), ("1.5s", nil), ("99999999999999999999s", nil), ("99999999999999999999ms", nil), ("", nil),
    ])
    func timesAreRead(_ text: String, _ ms: Int?) {
        #expect(TestStep.milliseconds(text) == ms)
    }

    @Test func twoCasesOfOneNameAreTold() {
        let text = "{\"cases\": [{\"name\": \"a\", \"steps\": []},\n{\"name\": \"a\", \"steps\": []}]}"
        #expect(problems(text) == ["t.json:2: two cases have the name \"a\""])
    }
}
