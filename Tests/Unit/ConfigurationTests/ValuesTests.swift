import Core
import TestSupport
import Testing

@testable import Configuration

/// The readers of single values.
@Suite struct ValuesTests {
    @Test(arguments: [
        ("0.0.0.0:8443", "0.0.0.0", 8_443), ("[::]:0", "::", 0), ("localhost:65535", "localhost", 65_535),
        ("[2001:db8::1]:1", "2001:db8::1", 1), ("a-b.example:80", "a-b.example", 80),
    ])
    func anAddressIsReadAndPrinted(text: String, host: String, port: Int) throws {
        let address = try HostPort(parsing: text)
        #expect(address.host == host && Int(address.port) == port && address.description == text)
    }

    @Test(arguments: [
        "", "8443", ":8443", "a:", "a:65536", "a:-1", "a:08", "a:+1", "::1:80", "[::1]", "[::1]80", "[a]:1", "[]:1",
        "a b:1", "-a:1", "a-:1", "a..b:1", "256.1.1.1:1", "1.2.3:4", "é:1", "a:1 ", "[::1%eth0]:1", "*:1",
    ])
    func aWrongAddressIsRefused(text: String) {
        #expect(throws: ValueFault.self) { try HostPort(parsing: text) }
    }

    @Test(arguments: ["10.0.0.0/8", "2001:db8::/32", "192.0.2.1", "::ffff:10.0.0.0/104", "0.0.0.0/0"])
    func anAddressRangeIsTaken(text: String) throws {
        try ValueKind.addressRange.check(text)
    }

    @Test(arguments: [
        ("a/8", "an address range, e.g. 10.0.0.0/8 or 2001:db8::/32, or one address"),
        ("10.0.0.0/33", "a prefix length from 0 to 32 after the slash"),
        ("::/129", "a prefix length from 0 to 128 after the slash"),
        ("::ffff:10.0.0.0/95", "a prefix length from 96 to 128 after a mapped IPv4 address"),
        ("10.0.0.1/8", "an address range whose bits after the first 8 are zero"),
    ])
    func aWrongAddressRangeIsExplained(text: String, expected: String) {
        #expect(throws: ValueFault(expected: expected)) { try ValueKind.addressRange.check(text) }
    }

    @Test(arguments: [("90s", 90), ("15m", 900), ("1h", 3_600), ("7d", 604_800), ("366d", 31_622_400)])
    func aTimeIsRead(text: String, seconds: Int) throws {
        #expect(try DurationText.seconds(parsing: text) == seconds)
    }

    @Test(arguments: [
        "", "s", "1", "0s", "-1s", "1.5h", "1w", "367d", "31622401s", "9223372036854775807d", "1h ", "01h",
    ])
    func aWrongTimeIsRefused(text: String) {
        #expect(throws: ValueFault.self) { try DurationText.seconds(parsing: text) }
    }

    @Test(arguments: [
        "https://shop.example", "https://shop.example:8443", "http://localhost:3000", "capacitor://localhost",
        "https://[::1]:8443", "http://a:443", "https://[::1]", "*",
    ])
    func anOriginIsTaken(text: String) throws {
        try Origin.check(text)
    }

    @Test(arguments: [
        "**", "null", "", "shop.example", "https://", "https://shop.example/", "https://shop.example/a", "HTTPS://a",
        "https://A", "https://a:443", "http://a:80", "https://a:", "https://a:0", "https://a:65536", "https://*.a",
        "https://a b", "https://u@a", "1https://a", "://a", "https://[::1", "https:///", "https://[]:1",
    ])
    func aWrongOriginIsRefused(text: String) {
        #expect(throws: ValueFault.self) { try Origin.check(text) }
    }

    @Test(arguments: ["https://a", "https://a:1", "http://[::1]:1/", "https://[::1]"])
    func aGatewayURLIsTaken(text: String) throws {
        try ValueKind.gatewayURL.check(text)
    }

    @Test(arguments: [
        "ws://a", "https://", "https:///", "https:////", "https://a/b", "https://a?b", "https://a#b", "https://u:p@a",
        "https://a:x", "a", "https:// a",
    ])
    func aWrongGatewayURLIsRefused(text: String) {
        #expect(throws: ValueFault.self) { try ValueKind.gatewayURL.check(text) }
    }

    @Test(arguments: [
        (ValueKind.keyPrefix, "shop1:", true), (.keyPrefix, "a{b}", false), (.keyPrefix, "a#", false),
        (.webPath, "/socket.io", true), (.webPath, "/a_B-9", true), (.webPath, "/", false), (.webPath, "a", false),
        (.webPath, "/a/b", false), (.webPath, "/a b", false), (.webPath, "/a?", false),
        (.webPath, "/\(String(repeating: "a", count: 33))", false),
        (.keyPrefix, String(repeating: "a", count: 64), true), (.keyPrefix, String(repeating: "a", count: 65), false),
        (.topicPattern, "order:*", true), (.topicPattern, "order:7", true), (.topicPattern, "*", false),
        (.topicPattern, "order:7*", false), (.topicPattern, ":*", false), (.topicPattern, "Order:*", false),
        (.position, "k3x9:17", true), (.position, "k3x9", false), (.position, ":1", false), (.position, "a:-1", false),
        (.position, "a b:1", false), (.messageID, "op-1", true), (.messageID, "-", false), (.messageID, "a b", false),
        (.integer(0...9), "9", true), (.integer(0...9), "10", false), (.integer(0...9), "-0", false),
        (.integer(0...9), "+1", false), (.integer(-1...9), "-1", true), (.boolean, "TRUE", false),
        (.redisURL, "redis://", false), (.redisURL, "redis://h", true), (.redisURL, "rediss://h", true),
        (.redisURL, "unix:///a", true), (.redisURL, "Redis://h", false), (.redisURL, "redis://h h", false),
        (.limit, "pingMs=5", true), (.limit, "pingMs=0", false), (.limit, "pingMs", false), (.limit, "=5", false),
        (.limit, "pingMs=-1", false), (.limit, "pingMs= 1", false), (.limit, "pingMs=99999999999999999999", false),
        (.file, "a\u{0}b", false), (.file, "a\nb", false), (.file, String(repeating: "a", count: 4_096), true),
        (.file, String(repeating: "a", count: 4_097), false), (.text, "a b é", true), (.text, "a\u{202e}b", false),
    ])
    func aKindTakesItsValuesOnly(kind: ValueKind, text: String, good: Bool) {
        do throws(ValueFault) {
            try kind.check(text)
            #expect(good)
        } catch {
            #expect(!good, "\(error.expected)")
        }
    }

    @Test(arguments: [
        ("", "abc", 3), ("abc", "abc", 0), ("abc", "acb", 1), ("lisen", "listen", 1), ("kitten", "sitting", 3),
    ])
    func editsAreCounted(left: String, right: String, edits: Int) {
        #expect(NearestName.distance(Array(left.utf8), Array(right.utf8)) == edits)
        #expect(NearestName.distance(Array(right.utf8), Array(left.utf8)) == edits)
    }

    @Test func noNameIsOfferedForInputThatIsFarOrLong() {
        #expect(NearestName.among(["listen", "redis"], to: "zzzzzz") == nil)
        #expect(NearestName.among(["listen"], to: String(repeating: "listen", count: 1_000)) == nil)
        #expect(NearestName.among(["listen"], to: "") == nil)
    }

    /// Seeded random words must never trap, whatever reader they reach.
    @Test func randomInputNeverTraps() {
        var random = Seeded(20_261_120)
        func next(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
        let pieces = [
            "--", "-", "=", "listen", "redis", "://", "@", "?", "[", "]", "::", ":", ".", "1", "99999999999", "/", "*",
            "https", "limit", "pingMs", "é", "\u{0}", " ", "config", "c.json", "publish", "shop", "{", "}", "\"",
            "namespaces",
            ",", "null", "true", "ffff", "32", "trust-proxy", "allow-origin", "url", "since", "ttl", "-5", "s",
        ]
        for round in 0..<Histories.count(4_000) {
            func text() -> String { (0..<next(7)).map { _ in pieces[next(pieces.count)] }.joined() }
            let command = CommandName.allCases[next(CommandName.allCases.count)].rawValue
            let named = Setting.all[next(Setting.all.count)]
            let arguments = [command, named.flag, text(), text(), "--config", "c.json", text()]
            let file = Array(("{\"" + named.fileKey + "\":" + text() + "}").utf8)
            let result = Configuration.CommandLine.parse(
                arguments: arguments, environment: [named.environmentName: text()], readFile: { _ in file })
            if case .problems(let list) = result { #expect(!list.isEmpty, "round \(round), seed 20261120") }
        }
    }
}
