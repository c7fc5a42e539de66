import Testing

@testable import Core

/// Limits, duplicate names, and what a parsed text gives back.
@Suite struct JSONValueTests {
    private func parse(_ text: String, depth: Int = 32, elements: Int = 10_000) throws -> JSON.Value {
        try JSON(parsing: Array(text.utf8), limits: JSON.Limits(depthMax: depth, elementsMax: elements)).root
    }

    private func problem(_ text: String, depth: Int = 32, elements: Int = 10_000) -> JSON.Problem? {
        JSONGrammarTests.problem(Array(text.utf8), JSON.Limits(depthMax: depth, elementsMax: elements))
    }

    @Test func depthIsBoundedAtTheLimitAndNotBefore() {
        func nested(_ depth: Int, _ open: String, _ close: String) -> String {
            String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
        }
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
            let levels = open.count == 1 || open.first == "{" ? 32 : 16
            #expect(problem(nested(levels, open, close)) == nil)
            #expect(problem(nested(levels + 1, open, close)) == .tooDeep)
        }
        #expect(problem("1", depth: 0) == nil)
        #expect(problem("[]", depth: 0) == .tooDeep)
        #expect(problem(String(repeating: "[", count: 1_000_000)) == .tooDeep)
        #expect(problem(String(repeating: "{\"a\":", count: 100_000)) == .tooDeep)
    }

    @Test func valuesAreCountedAtTheLimitAndNotBefore() {
        let hundred = "[" + Array(repeating: "1", count: 99).joined(separator: ",") + "]"
        #expect(problem(hundred, elements: 100) == nil)
        #expect(problem(hundred, elements: 99) == .tooManyElements)
        #expect(problem("1", elements: 0) == .tooManyElements)
        #expect(problem("{\"a\":1,\"b\":2}", elements: 3) == nil)
        #expect(problem("{\"a\":1,\"b\":2}", elements: 2) == .tooManyElements)
    }

    @Test(arguments: [1, 2, 3, 11, 12, 13, 14, 31, 32, 33, 200])
    func aRepeatedNameIsRefusedWhateverTheNumberOfMembers(_ count: Int) {
        let names = (0..<count).map { "member\($0)" }
        func object(_ names: [String]) -> String {
            "{" + names.map { "\"\($0)\":{\"member0\":1}" }.joined(separator: ",") + "}"
        }
        #expect(problem(object(names)) == nil)
        for repeated in Set([0, count / 2, count - 1]) {
            #expect(problem(object(names + [names[repeated]])) == .duplicateName, "member \(repeated) of \(count)")
        }
    }

    @Test(arguments: [
        "{\"a\":1,\"a\":1}", "{\"a\":1,\"\\u0061\":1}", "{\"\\u0061\":1,\"a\":1}", "{\"\":1,\"\":2}",
        "[{\"x\":{\"a\":1,\"b\":2,\"a\":3}}]",
        "{\"\\n\":1,\"\\u000a\":1}", "{\"é\":1,\"\\u00e9\":1}", "{\"\\ud83d\\ude00\":1,\"😀\":2}", "{\"\\/\":1,\"/\":1}",
    ])
    func namesAreComparedDecoded(_ text: String) {
        #expect(problem(text) == .duplicateName)
    }

    @Test func namesAreComparedByBytesAndNotByCanonicalEquivalence() throws {
        let root = try parse("{\"é\":1,\"e\u{301}\":2,\"E\":3,\"e\":4}")
        #expect(root["é"]?.int == 1)
        #expect(root["e\u{301}"]?.int == 2)
        #expect(root["E"]?.int == 3)
    }

    @Test func aWideObjectIsCheckedInLinearTime() {
        // Quadratic comparison of these would be a billion name comparisons.
        let members = (0..<40_000).map { "\"n\($0)\":0" }
        #expect(problem("{" + members.joined(separator: ",") + "}", elements: 50_000) == nil)
        #expect(
            problem("{" + (members + ["\"n0\":0"]).joined(separator: ",") + "}", elements: 50_000) == .duplicateName)
        let escaped = (0..<40_000).map { "\"\\u0041\($0)\":0" }
        #expect(problem("{" + escaped.joined(separator: ",") + "}", elements: 50_000) == nil)
    }

    @Test func membersAreFoundPastNestedOnes() throws {
        let root = try parse("{\"a\":{\"x\":[1,[2,{\"y\":3}]],\"b\":0},\"b\":[10,{\"c\":[]},20],\"c\":\"z\"}")
        #expect(root["b"]?.members.map(\.kind) == [.number, .object, .number])
        #expect(root["c"]?.string == "z")
        #expect(root["x"] == nil)
        #expect(root["a"]?["b"]?.int == 0)
        #expect(root.members.map(\.name) == ["a", "b", "c"])
        #expect(root["b"]?.members.map(\.name) == ["", "", ""])
        #expect(root["c"]?["c"] == nil)
        #expect(root["c"]?.members.map(\.kind) == [])
        #expect(root["b"]?["c"] == nil, "an array has no names")
    }

    @Test func rawIsTheExactText() throws {
        let root = try parse(" { \"a\" : [ 1 , 2.50 ] , \"b\":\"\\u0041\" , \"c\":-0.0e5 } ")
        func raw(_ value: JSON.Value?) -> String { String(decoding: value?.raw ?? [], as: UTF8.self) }
        #expect(raw(root["a"]) == "[ 1 , 2.50 ]")
        #expect(raw(root["b"]) == "\"\\u0041\"")
        #expect(raw(root["c"]) == "-0.0e5")
        #expect(raw(root).hasPrefix("{ \"a\"") && raw(root).hasSuffix("-0.0e5 }"))
    }

    @Test(arguments: [
        ("\"\"", ""), ("\"a\"", "a"), ("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\u{8}\u{c}\n\r\t"),
        ("\"\\u0041\\u00e9\\u6f22\"", "Aé漢"),
        ("\"\\ud83d\\ude00\"", "😀"), ("\"\\uDBFF\\uDFFF\"", "\u{10ffff}"), ("\"\\u0000\"", "\0"),
        ("\"x\\u0041y\"", "xAy"), ("\"\\\\u0041\"", "\\u0041"),
        ("\"é\\n😀\"", "é\n😀"), ("\"\\uffff\"", "\u{ffff}"), ("\"\\u07ff\\u0800\"", "\u{7ff}\u{800}"),
    ])
    func stringsAreDecoded(_ text: String, _ expected: String) throws {
        let value = try parse(text)
        #expect(value.stringBytes == Array(expected.utf8))
        let member = try parse("{\(text):1}").members.first { _ in true }
        #expect(member?.nameBytes == Array(expected.utf8))
        #expect(try parse("{\(text):1}")[expected]?.int == 1)
    }

    @Test(
        arguments: [
            ("0", 0), ("7", 7), ("-7", -7), ("9223372036854775807", Int.max), ("-9223372036854775807", -Int.max),
            ("-0", nil), ("1.0", nil),
            ("1e3", nil), ("9223372036854775808", nil), ("-9223372036854775808", nil), ("99999999999999999999", nil),
            ("\"1\"", nil), ("true", nil),
            ("null", nil), ("[1]", nil),
        ] as [(String, Int?)])
    func integersAreExact(_ text: String, _ expected: Int?) throws {
        #expect(try parse(text).int == expected)
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("1.5", 1.5), ("-2e3", -2_000), ("1e400", nil), ("-1e400", nil), ("1e-400", 0),
            ("\"1\"", nil), ("null", nil),
        ] as [(String, Double?)])
    func doublesAreFinite(_ text: String, _ expected: Double?) throws {
        #expect(try parse(text).double == expected)
    }

    @Test func kindsDoNotMix() throws {
        #expect(try parse("true").bool == true)
        #expect(try parse("false").bool == false)
        #expect(try parse("null").bool == nil)
        #expect(try parse("0").bool == nil)
        #expect(try parse("1").string == nil)
        #expect(try parse("{}").string == nil)
    }

    @Test func writtenStringsReadBack() throws {
        var every: [UInt8] = []
        for value in UInt32(0)..<0x3000 {
            if let scalar = Unicode.Scalar(value) { every += Array(String(scalar).utf8) }
        }
        every += Array("😀\u{10ffff}".utf8)
        var text: [UInt8] = []
        text.append(jsonString: every)
        #expect(text.allSatisfy { $0 >= 0x20 && $0 != 0x7f })
        let json = try JSON(parsing: text, limits: JSONGrammarTests.limits)
        #expect(json.root.stringBytes == every)
        var short: [UInt8] = []
        short.append(jsonString: "a\"b\\c\n\r\t\u{1}é")
        #expect(String(decoding: short, as: UTF8.self) == "\"a\\\"b\\\\c\\n\\r\\t\\u0001é\"")
    }
}
