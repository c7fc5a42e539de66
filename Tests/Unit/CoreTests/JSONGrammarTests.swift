import TestSupport
import Testing

@testable import Core

/// RFC 8259, rule by rule: `y` texts must be accepted, `n` texts refused with the problem named.
@Suite struct JSONGrammarTests {
    static let limits = JSON.Limits(depthMax: 32, elementsMax: 1_000)

    static func problem(_ bytes: [UInt8], _ limits: JSON.Limits = limits) -> JSON.Problem? {
        do {
            _ = try JSON(parsing: bytes, limits: limits)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        // Structure and space (section 2).
        "{}", "[]", " {} ", "\t\r\n [ \n]", "[1,2]", "[ 1 , 2 ]", "{\"a\":1}", "{ \"a\" : 1 , \"b\" : [ ] }",
        "[[],[[]]]",
        "{\"\":0}", "{\"a\":{\"a\":{\"a\":1}}}", "[{\"a\":1},{\"a\":2}]", "[null]", "[[] ]",
        // Scalars at the top (section 2) and literals (section 3).
        "true", "false", "null", "0", "\"\"", " true ", "[true,false,null]",
        // Numbers (section 6).
        "-0", "1", "-1", "10", "0.5", "-0.0", "1e1", "1E1", "1e+1", "1e-1", "1.5e10", "0e0", "0E+0",
        "123456789012345678901234567890",
        "1e400", "-1e-400", "9223372036854775807", "0.00000000000000000000000000000000000000001",
        // Strings (section 7).
        "\"a\"", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\u0041\"", "\"\\uabCD\"", "\"\\u0000\"", "\"\\uD83D\\uDE00\"",
        "\"\\uDBFF\\uDFFF\"",
        "\"é漢😀\"", "\"\u{7f}\"", "\"\u{2028}\u{2029}\"", "\"\u{ffff}\"", "\"\u{10ffff}\"", "\"\\uFFFE\"", "\"/\"",
        "\"{[,:]}\"",
        "{\"\\u0061\":1,\"b\":2}", "{\"é\":1,\"e\u{301}\":2}",
    ])
    func acceptsValid(_ text: String) {
        #expect(JSONGrammarTests.problem(Array(text.utf8)) == nil)
    }

    @Test(arguments: [
        // Nothing, half a text, more than one text.
        "", " ", "{", "[", "}", "]", "{]", "[}", "[1", "[1,", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "1 2",
        "{}{}", "[]]", "{}}", "[]a",
        "true false", "\u{feff}{}", "[1]\0", "\0", "[\0]", "{}\u{a0}", "[\u{0c}]", "[\u{0b}1]",
        // Commas and colons.
        "[,]", "[1,]", "[,1]", "[1,,2]", "[1 2]", "[:]", "{,}", "{\"a\":1,}", "{,\"a\":1}", "{\"a\":1 \"b\":2}",
        "{\"a\" 1}", "{\"a\"::1}",
        "{\"a\",1}", "{\"a\":1,,\"b\":2}", "[\"a\":1]", "{1:1}", "{a:1}", "{'a':1}", "{null:1}", "{\"a\":}", "{:1}",
        "{\"a\":1:2}", "{\"a\"}",
        // Literals.
        "True", "TRUE", "tru", "truee", "nul", "nulll", "fals", "falsE", "nan", "NaN", "Infinity", "-Infinity",
        "undefined", "t", "n", "f",
        "[tru]", "[nul,1]",
        // Numbers.
        "+1", "01", "-01", "00", "-", "--1", "1.", ".5", "-.5", "1.e1", "1e", "1e+", "1E-", "1e1.5", "0x10", "1_000",
        "1,5", "0b1", "1a", "- 1",
        "1 e1", "0e", "-a", "1.5.5", "[-]", "[1.]", "１",
        // Strings.
        "\"", "\"a", "'a'", "\"\\\"", "\"\\\\\\\"", "\"\\x41\"", "\"\\a\"", "\"\\'\"", "\"\\0\"", "\"\\\n\"",
        "\"\\U0041\"", "\"\\u\"", "\"\\u004\"",
        "\"\\u004g\"", "\"\\u+041\"", "\"\\u 041\"", "\"a\nb\"", "\"a\tb\"", "\"a\rb\"", "\"a\0b\"", "\"\u{1f}\"",
        "\"\\u00", "\"\\", "\"\\u12\"",
        // Surrogates alone or out of order.
        "\"\\uD800\"", "\"\\uDFFF\"", "\"\\uD800a\"", "\"\\uD800\\n\"", "\"\\uD800\\uD800\"", "\"\\uDC00\\uD800\"",
        "\"\\uD800\\u0041\"",
        "\"\\uD800\\uDC\"", "\"\\uD800\\\"", "{\"\\uD800\":1}",
        // Comments and the like.
        "// x\n{}", "{}/**/", "[1/*x*/]", "#\n1", "<a>", "{...}", "\\u005b]",
    ])
    func refusesInvalid(_ text: String) {
        #expect(JSONGrammarTests.problem(Array(text.utf8)) == .syntax)
    }

    @Test(
        arguments: [
            [0xff], [0x22, 0xff, 0x22], [0x22, 0xc3, 0x22], [0x22, 0xc0, 0xaf, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22],
            [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22], [0x22, 0x80, 0x22], [0x22, 0xe2, 0x82],
            [0xfe, 0xff, 0, 0x7b, 0, 0x7d],
            [0x7b, 0x22, 0xc1, 0x81, 0x22, 0x3a, 0x31, 0x7d],
        ] as [[UInt8]])
    func refusesWhatIsNotUTF8(_ bytes: [UInt8]) {
        #expect(JSONGrammarTests.problem(bytes) == .invalidUTF8)
    }

    @Test func everyProperPrefixIsRefused() {
        let text = Array("{\"a\":[1.5e-3,true,\"x\\u00e9\\ud83d\\ude00é\"],\"b\":{\"c\":null}}".utf8)
        #expect(JSONGrammarTests.problem(text) == nil)
        for length in 0..<text.count {
            #expect(JSONGrammarTests.problem(Array(text.prefix(length))) != nil, "length \(length)")
        }
    }

    @Test func everyControlByteInAStringIsRefused() {
        for byte in UInt8(0)...0x7f {
            let problem = JSONGrammarTests.problem([0x22, byte, 0x22])
            let expected: JSON.Problem? = byte < 0x20 || byte == 0x22 || byte == 0x5c ? .syntax : nil
            #expect(problem == expected, "byte \(byte)")
        }
    }

    @Test func onlyEightLettersMayFollowABackslash() {
        for byte in UInt8(0)...0x7f where byte != UInt8(ascii: "u") {
            let valid = Array("\"\\/bfnrt".utf8).contains(byte)
            #expect((JSONGrammarTests.problem([0x22, 0x5c, byte, 0x22]) == nil) == valid, "byte \(byte)")
        }
    }

    @Test func mutationsOfValidTextsNeverTrap() {
        let seeds = [
            "{\"event\":\"subscribe\",\"data\":{\"topics\":[\"shop:42\",{\"topic\":\"dj:1\",\"since\":{\"epoch\":\"a\",\"offset\":1}}]}}",
            "[1,-2.5e+10,\"\\ud83d\\ude00\\u0041é漢\",[],{},{\"a\":{\"b\":[true,false,null]}}]",
        ].map { Array($0.utf8) }
        for seed in UInt64(0)..<4_000 {
            var random = Seeded(seed)
            var bytes = seeds[Int(seed % 2)]
            for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &random)], at: place)
                default: bytes.removeSubrange(place...)
                }
            }
            guard let json = try? JSON(parsing: bytes, limits: JSONGrammarTests.limits) else { continue }
            #expect(JSONGrammarTests.walk(json.root) <= 1_000, "seed \(seed)")
        }
    }

    /// Reads everything a value offers; returns how many values there are.
    static func walk(_ value: JSON.Value) -> Int {
        _ = (value.name, value.raw, value.string, value.int, value.double, value.bool, value["a"]?.kind)
        return value.members.reduce(1) { $0 + walk($1) }
    }

    /// Strings are read in steps of 16 bytes; each byte, at each place of a step, is judged as it is alone.
    @Test func aByteOfAStringIsJudgedAlikeAtEachPlace() {
        let limits = JSON.Limits(depthMax: 4, elementsMax: 8)
        for place in 0..<40 {
            for byte in UInt8.min...0x7f {
                let before = [UInt8(ascii: "\"")] + [UInt8](repeating: UInt8(ascii: "a"), count: place)
                let after = [UInt8](repeating: UInt8(ascii: "n"), count: 20) + [UInt8(ascii: "\"")]
                let problem = JSONGrammarTests.problem(before + [byte] + after, limits)
                // A quote ends the string too early; behind a backslash stands an n, which is an escape.
                let isRefused = byte < 0x20 || byte == UInt8(ascii: "\"")
                #expect(problem == (isRefused ? .syntax : nil), "byte \(byte) at \(place)")
            }
            let open = [UInt8(ascii: "\"")] + [UInt8](repeating: UInt8(ascii: "a"), count: place)
            #expect(JSONGrammarTests.problem(open, limits) == .syntax)
        }
    }
}
