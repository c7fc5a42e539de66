import Core
import Glibc
import TestSupport
import Testing

@testable import Commands

/// What each type takes from JSON and from text, and the text scripts get.
@Suite struct ArgumentTypeTests {
    private static func type(_ header: String) throws -> ArgumentType {
        try ArgumentReader.read("x " + header).type
    }

    /// Type, JSON value, and what goes into `ARGV`; `nil`: refused.
    @Test(
        arguments: [
            ("id", "\"a.B_9~:-\"", "a.B_9~:-"), ("id", "42", "42"), ("id", "-7", "-7"), ("id", "0", "0"),
            ("id", "1.5", nil), ("id", "1e3", "1000"), ("id", "9007199254740992", nil), ("id", "\"\"", nil),
            ("id", "\"a b\"", nil), ("id", "\"a#b\"", nil),
            ("id", "\"é\"", nil), ("id", "true", nil), ("id", "[1]", nil), ("id", "\"\\u0061\"", "a"),
            ("string 1..3", "\"abc\"", "abc"), ("string 1..3", "\"\"", nil), ("string 1..3", "\"abcd\"", nil),
            ("string 1..3", "\"é漢😀\"", "é漢😀"), ("string 1..3", "\"e\\u0301x\"", "e\u{301}x"),
            ("string 1..3", "\"e\\u0301xy\"", nil), ("string 0..9", "\"a\\u0000\"", nil), ("string 0..9", "\"\"", ""),
            ("string 1..3", "1", nil), ("string 0..2", "\"\\n\\u0001\"", "\n\u{1}"),
            ("int 1..5", "1", "1"), ("int 1..5", "5", "5"), ("int 1..5", "0", nil), ("int 1..5", "6", nil),
            ("int 1..5", "1.0", "1"), ("int 1..5", "1.5", nil), ("int 1..5", "\"1\"", nil), ("int -5..-1", "-3", "-3"),
            ("int 1..5", "1e0", "1"),
            ("number", "1e999", nil), ("number", "-1e999", nil), ("number", "0.1", "0.1"), ("number", "5.0", "5"),
            ("number", "-0.0", "0"), ("number", "1e22", "1e+22"), ("number", "5e-324", "5e-324"),
            ("number", "1e-999", "0"), ("number", "\"1\"", nil), ("number 0..1", "1.0000001", nil),
            ("number 0..1", "1", "1"), ("number -90..90", "-90.5", nil),
            ("enum up,down", "\"up\"", "up"), ("enum up,down", "\"Up\"", nil), ("enum up,down", "\"\"", nil),
            ("enum up,down", "0", nil),
            ("bool", "true", "1"), ("bool", "false", "0"), ("bool", "1", nil), ("bool", "\"true\"", nil),
            ("json 9 2", "{\"a\":[]}", "{\"a\":[]}"), ("json 9 2", "[[[]]]", nil),
            ("json 9 2", "\"1234567\"", "\"1234567\""),
            ("json 9 2", "\"12345678\"", nil), ("json 9 0", "1", "1"), ("json 9 0", "[]", nil),
            ("time", "0", "0"), ("time", "253402300799999", "253402300799999"), ("time", "253402300800000", nil),
            ("time", "-1", nil), ("time", "1.5", nil), ("time", "\"1970-01-01T00:00:01Z\"", "1000"),
            ("time", "\"1\"", nil),
            ("ids 1..2", "[\"a\",7]", "a 7"), ("ids 1..2", "[]", nil), ("ids 0..2", "[]", ""),
            ("ids 1..2", "[1,2,3]", nil),
            ("ids 1..2", "[\"a b\"]", nil), ("ids 1..2", "\"a\"", nil), ("ids 1..2", "[null]", nil),
        ] as [(String, String, String?)])
    func valuesOfJSON(_ header: String, _ value: String, _ expected: String?) throws {
        #expect(text(try ArgumentTypeTests.type(header).argument(of: try json(value))) == expected)
    }

    @Test(
        arguments: [
            ("id", "42", "42"), ("id", "a b", nil), ("id", "", nil), ("string 0..2", "", ""), ("string 0..2", "é", "é"),
            ("string 0..2", "abc", nil), ("int 1..5", "3", "3"), ("int 1..5", "03", nil), ("int 1..5", "+3", nil),
            ("int 1..5", " 3", nil), ("int -5..5", "-0", nil), ("number", "1e3", "1000"), ("number", "0x10", nil),
            ("number", "nan", nil), ("number", "inf", nil), ("number", "1e999", nil), ("number", "\"1\"", nil),
            ("bool", "true", "1"), ("bool", "1", nil), ("enum a,b", "b", "b"), ("enum a,b", "c", nil),
            ("json 20 2", "{\"a\":1}", "{\"a\":1}"), ("json 20 2", "{", nil), ("json 20 2", "null", nil),
            ("time", "5", "5"), ("time", "1970-01-01T01:00:00+01:00", "0"), ("time", "yesterday", nil),
            ("ids 0..2", "", ""), ("ids 0..2", "a,b", "a b"), ("ids 0..2", "a,", nil), ("ids 0..2", "a,b,c", nil),
        ] as [(String, String, String?)])
    func valuesOfText(_ header: String, _ value: String, _ expected: String?) throws {
        #expect(text(try ArgumentTypeTests.type(header).argument(ofText: bytes(value))) == expected)
    }

    @Test func lengthsAreBounded() throws {
        let longest = String(repeating: "a", count: 200)
        #expect(ArgumentType.id.argument(ofText: bytes(longest)) != nil)
        #expect(ArgumentType.id.argument(ofText: bytes(longest + "a")) == nil)
        #expect(ArgumentType.user.argument(ofText: bytes(String(longest.prefix(128)))) != nil)
        #expect(ArgumentType.user.argument(ofText: bytes(String(longest.prefix(129)))) == nil)
        #expect(ArgumentType.string(0...9).argument(ofText: [0xff]) == nil, "text is UTF-8")
    }

    // MARK: Time

    @Test(
        arguments: [
            ("2026-11-21T10:20:05.123Z", 1_795_256_405_123), ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T23:59:59.999999999-11:30", 951_910_199_999), ("1970-01-01T00:00:00.5+00:00", 500),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999), ("1969-12-31T23:59:59Z", -1_000),
            ("2100-02-29T00:00:00Z", nil), ("2023-02-29T00:00:00Z", nil), ("2024-02-30T00:00:00Z", nil),
            ("2024-13-01T00:00:00Z", nil), ("2024-00-01T00:00:00Z", nil), ("2024-04-31T00:00:00Z", nil),
            ("2024-01-01T24:00:00Z", nil), ("2024-01-01T00:60:00Z", nil), ("2016-12-31T23:59:60Z", nil),
            ("2024-01-01T00:00:00", nil), ("2024-01-01 00:00:00Z", nil), ("2024-01-01t00:00:00Z", nil),
            ("2024-01-01T00:00:00z", nil), ("2024-01-01T00:00Z", nil), ("2024-1-01T00:00:00Z", nil),
            ("2024-01-01T00:00:00.Z", nil), ("2024-01-01T00:00:00.1234567890Z", nil),
            ("2024-01-01T00:00:00+24:00", nil),
            ("2024-01-01T00:00:00+0100", nil), ("2024-01-01T00:00:00ZZ", nil), ("+2024-01-01T00:00:00Z", nil),
            ("", nil),
            ("２024-01-01T00:00:00Z", nil),
        ] as [(String, Int?)])
    func moments(_ text: String, _ expected: Int?) {
        #expect(Timestamp.milliseconds(bytes(text)) == expected)
    }

    /// The C library is the judge of the calendar.
    @Test func randomMomentsAreThoseOfTheCLibrary() {
        var random = Seeded(0x71_3e)
        func two(_ value: Int) -> String { (value < 10 ? "0" : "") + "\(value)" }
        for _ in 0..<Histories.count(5_000) {
            let year = Int.random(in: 1970...9999, using: &random)
            let (month, day) = (Int.random(in: 1...12, using: &random), Int.random(in: 1...31, using: &random))
            let (hour, minute) = (Int.random(in: 0...23, using: &random), Int.random(in: 0...59, using: &random))
            let zone = Int.random(in: -1_439...1_439, using: &random)
            let text =
                "\(year)-\(two(month))-\(two(day))T\(two(hour)):\(two(minute)):07" + (zone < 0 ? "-" : "+")
                + "\(two(abs(zone) / 60)):\(two(abs(zone) % 60))"
            var parts = unsafe tm()
            unsafe parts.tm_year = Int32(year - 1_900)
            unsafe parts.tm_mon = Int32(month - 1)
            unsafe parts.tm_mday = Int32(day)
            unsafe parts.tm_hour = Int32(hour)
            unsafe parts.tm_min = Int32(minute)
            unsafe parts.tm_sec = 7
            let seconds = unsafe timegm(&parts)
            // A day that the month has not is carried into the next month.
            let isDate = unsafe parts.tm_mday == Int32(day)
            let expected = isDate ? (seconds - zone * 60) * 1_000 : nil
            #expect(Timestamp.milliseconds(bytes(text)) == expected, "\(text)")
        }
    }
}
