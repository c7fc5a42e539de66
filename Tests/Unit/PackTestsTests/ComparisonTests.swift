import Core
import Testing

@testable import PackTests

/// Differences between values, and the names that values have.
@Suite struct ComparisonTests {
    private func value(_ text: String) throws -> JSON.Value {
        try JSON(parsing: Array(text.utf8), limits: TestFile.limits).root
    }

    private func places(_ expected: String, _ found: String, _ names: BoundNames = BoundNames()) throws -> [String] {
        var comparison = Comparison(names)
        comparison.compare(try value(expected), Array(found.utf8), at: "a")
        return comparison.differences.map(\.place)
    }

    @Test(arguments: [
        ("{}", "{\"b\": 1}", []), ("{\"b\": 1}", "{}", ["a.b"]), ("{\"b\": null}", "{}", []),
        ("{\"b\": null}", "{\"b\": 0}", ["a.b"]), ("[1]", "[1, 2]", ["a"]), ("[1, 3]", "[1, 2]", ["a[1]"]),
        ("1", "1.0", []), ("1", "\"1\"", ["a"]), ("\"b\"", "\"b\"", []), ("\"b\"", "\"c\"", ["a"]),
        ("true", "false", ["a"]),
        ("\"$any\"", "{}", []), ("{\"b\": \"$any\"}", "{\"b\": null}", ["a.b"]), ("\"$$b\"", "\"$b\"", []),
        ("{\"b\": {\"c\": [1]}}", "{\"b\": {\"c\": [2], \"d\": 1}}", ["a.b.c[0]"]), ("{}", "5", ["a"]),
        ("[]", "x", ["a"]),
        ("[\"$x\", \"$x\"]", "[1, 1]", []), ("[\"$x\", \"$x\"]", "[1, 2]", ["a[1]"]), ("\"${x}\"", "\"\"", ["a"]),
        ("12345678901234567890", "12345678901234567890", []),
    ])
    func differencesHaveTheirPlaces(_ expected: String, _ found: String, _ wanted: [String]) throws {
        #expect(try places(expected, found) == wanted)
    }

    @Test func namesStandForValuesAndTimes() throws {
        var names = BoundNames()
        names.nowMs = 1_893_456_000_000
        names.bind("id", Array("\"b-1\"".utf8))
        names.bind("count", Array("3".utf8))
        #expect(try places("\"$id\"", "\"b-1\"", names) == [])
        #expect(try places("\"$count\"", "3", names) == [])
        #expect(try places("\"$now+90s\"", "\"2030-01-01T00:01:30.000Z\"", names) == [])
        #expect(try places("\"$nowMs-1h\"", "1893452400000", names) == [])
        #expect(try names.filled("booking:${id}#${count} $5 $$") == "booking:b-1#3 $5 $")
        #expect(
            String(decoding: try names.filled(try value("{\"a\": [\"$id\", \"$count\", \"x${id}\"]}")), as: UTF8.self)
                == "{\"a\":[\"b-1\",3,\"xb-1\"]}")
        #expect(throws: BoundNames.Unknown(name: "other")) { try names.filled("${other}") }
        #expect(throws: BoundNames.Unknown(name: "any")) { try names.filled(try value("\"$any\"")) }
    }

    /// A value of a script may hold anything; a terminal gets one line of it.
    @Test func valuesAreShownOnOneBoundedLine() {
        let shown = Shown.bytes(Array("{\n  \"a\": \u{1b}[2J\(String(repeating: "x", count: 1_000))".utf8))
        #expect(shown.hasPrefix("{ \"a\": ?[2Jxxx") && shown.hasSuffix("...") && shown.utf8.count < 420)
    }
}
