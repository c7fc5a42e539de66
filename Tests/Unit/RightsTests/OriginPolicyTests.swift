import Core
import Testing

@testable import Rights

/// Cross-site WebSocket hijacking: exact origins only.
@Suite struct OriginPolicyTests {
    private static let list = ["https://good.com", "https://xn--bcher-kva.example:8443", "capacitor://localhost"]

    private func judge(
        _ origin: String?, _ list: [String] = OriginPolicyTests.list, host: String? = "gw.example", secure: Bool = true
    ) throws -> OriginPolicy.Verdict {
        try OriginPolicy(allowing: list).judge(
            origins: origin.map { [Array($0.utf8)] } ?? [], host: host.map { Array($0.utf8) }, secure: secure,
            isOwnName: { $0.elementsEqual("gw.example".utf8) })
    }

    /// Metrics of this machine are for its own pages, whichever pages may connect.
    @Test func anyOriginIsLeftOutWhereOnlyOwnPagesMayRead() throws {
        let policy = try OriginPolicy(allowing: ["*"])
        for (origin, verdict) in [
            ("https://evil.example", OriginPolicy.Verdict.refused), ("http://127.0.0.1:9", .allowed),
        ] {
            let found = policy.judge(
                origins: [Array(origin.utf8)], host: Array("127.0.0.1:9".utf8), secure: false, takesAny: false,
                isOwnName: { _ in false })
            #expect(found == verdict, "\(origin)")
        }
    }

    @Test(arguments: [
        "https://good.com", "https://good.com:443", "https://xn--bcher-kva.example:8443", "capacitor://localhost",
    ])
    func listedOriginIsAllowed(_ origin: String) throws {
        #expect(try judge(origin) == .allowed)
    }

    @Test func missingOriginIsAllowedAndSaidToBeAbsent() throws {
        #expect(try judge(nil) == .absent)
        #expect(try judge(nil, []) == .absent)
        #expect(OriginPolicy.Verdict.absent.refusal == nil)
        #expect(OriginPolicy.Verdict.allowed.refusal == nil)
        #expect(OriginPolicy.Verdict.refused.refusal?.code == .forbidden)
    }

    @Test func nullIsRefusedUnlessListed() throws {
        #expect(try judge("null") == .refused)
        #expect(try judge("null", ["*"]) == .refused)
        #expect(try judge("null", ["null"]) == .allowed)
        #expect(try judge("NULL", ["null"]) == .refused)
        #expect(try judge("null ", ["null"]) == .refused)
    }

    @Test(arguments: ["https://good.com.evil.com", "https://good.com.", "https://good.comx", "https://good.co"])
    func listedOriginAsAPrefixIsRefused(_ origin: String) throws {
        #expect(try judge(origin) == .refused)
    }

    @Test(arguments: ["https://evilgood.com", "https://evil.good.com", "https://www.good.com", "https://.good.com"])
    func listedOriginAsASuffixIsRefused(_ origin: String) throws {
        #expect(try judge(origin) == .refused)
    }

    @Test(arguments: [
        "https://good.com@evil", "https://good.com@evil.com", "https://good.com:x@evil.com", "https://evil@good.com",
        "https://:@good.com",
    ])
    func userInfoIsRefused(_ origin: String) throws {
        #expect(try judge(origin) == .refused)
        #expect(try judge(origin, ["*"]) == .refused)
    }

    @Test(arguments: ["HTTPS://good.com", "https://GOOD.com", "https://Good.Com", "Https://Good.com"])
    func upperCaseIsRefused(_ origin: String) throws {
        #expect(try judge(origin) == .refused)
    }

    @Test func trailingDotIsRefused() throws {
        #expect(try judge("https://good.com.") == .refused)
        #expect(try judge("https://good.com.:443") == .refused)
        #expect(try judge("https://gw.example.", host: "gw.example.") == .refused)
    }

    @Test func httpDowngradeIsRefused() throws {
        #expect(try judge("http://good.com") == .refused)
        #expect(try judge("http://good.com:443") == .refused)
        #expect(try judge("ws://good.com") == .refused)
        #expect(try judge("wss://good.com") == .refused)
    }

    @Test(arguments: [
        "https://good.com:8443", "https://good.com:80", "https://good.com:0443", "https://good.com:",
        "https://good.com:0",
        "https://good.com:65979", "https://good.com:443:443", "https://good.com:+443", "https://good.com: 443",
        "https://good.com:18446744073709551617", "https://xn--bcher-kva.example", "capacitor://localhost:0",
    ])
    func portVariantsAreRefused(_ origin: String) throws {
        #expect(try judge(origin) == .refused)
    }

    @Test func twoOriginFieldsAreRefused() throws {
        let good = Array("https://good.com".utf8)
        for list in [OriginPolicyTests.list, ["*"]] {
            let policy = try OriginPolicy(allowing: list)
            #expect(policy.judge(origins: [good, good], host: nil, secure: true, isOwnName: { _ in true }) == .refused)
            #expect(
                policy.judge(
                    origins: [good, Array("https://evil.com".utf8)], host: nil, secure: true, isOwnName: { _ in true })
                    == .refused)
            #expect(policy.accessControlAllowOrigin([good, good]) == nil)
        }
        #expect(try judge("https://good.com, https://good.com") == .refused)
        #expect(try judge("https://good.com https://good.com") == .refused)
    }

    @Test(arguments: [
        "https://bücher.example:8443", "https://bu\u{308}cher.example:8443", "https://XN--bcher-kva.example:8443",
        "https://xn--bcher-kvb.example:8443", "https://gооd.com", "https://good\u{200b}.com", "https://good。com",
        "https://good%2ecom",
    ])
    func punycodeIsComparedByBytesAndUnicodeRefused(_ origin: String) throws {
        #expect(try judge(origin) == .refused)
    }

    @Test(arguments: [
        "", " ", "https", "https:", "https:/", "https://", "https:///", "//good.com", "good.com", "https:good.com",
        "https://good.com/", "https://good.com/x", "https://good.com?x", "https://good.com#x", "https://good.com\\",
        " https://good.com", "https://good.com ", "https://good.com\r\nX: y", "https://good.com\0", "https://good..com",
        "https://[::1", "https://::1", "https://[]", "https://[1.2.3.4]", "https://[::1]x", "https://*",
        "https://*.com",
        "javascript:alert(1)", "file://", "data:text/html,x", "1https://good.com", "https+://",
    ])
    func whatIsNoOriginIsRefusedEvenUnderStar(_ origin: String) throws {
        #expect(try judge(origin) == .refused)
        #expect(try judge(origin, ["*"]) == .refused)
    }

    @Test func veryLongOriginIsRefused() throws {
        let label = String(repeating: "a", count: 63)
        let host = [label, label, label].joined(separator: ".")
        #expect(try judge("https://\(host)", ["*"]) == .allowed)
        #expect(try judge("https://\(host).\(label)", ["*"]) == .refused)
        #expect(try judge("https://\(label)a", ["*"]) == .refused)
        #expect(try judge("https://" + String(repeating: "a.", count: 500_000), ["*"]) == .refused)
    }

    /// Phoenix CVE-2022-42975: the wildcard matched suffixes.
    ///
    /// Here a star is a whole entry or an error.
    @Test(arguments: ["*.good.com", "https://*.good.com", "https://*", "**", " *"])
    func starInsideAnEntryIsAnError(_ entry: String) {
        #expect(throws: RightsProblem.self) { try OriginPolicy(allowing: [entry]) }
    }

    @Test(arguments: [
        "https://good.com/", "good.com", "https://GOOD.com", "https://good.com.", "https://bücher.example", "",
        "https://u@good.com", "https://good.com:99999",
    ])
    func entriesThatCouldNeverMatchAreAnError(_ entry: String) {
        #expect(throws: RightsProblem.self) { try OriginPolicy(allowing: ["https://fine.com", entry]) }
    }

    @Test func duplicateEntriesAreAnError() {
        #expect(throws: RightsProblem.self) { try OriginPolicy(allowing: ["https://a.b", "https://a.b:443"]) }
        #expect(throws: RightsProblem.self) {
            try OriginPolicy(allowing: (0...OriginPolicy.entriesMax).map { "https://a\($0).b" })
        }
    }

    @Test func starAllowsOriginsOnlyWhenConfigured() throws {
        #expect(try judge("https://any.example") == .refused)
        #expect(try judge("https://any.example", ["*"]) == .allowed)
        #expect(try judge("https://any.example", []) == .refused)
    }

    @Test(arguments: [
        ("https://gw.example", "gw.example", true), ("https://gw.example:443", "gw.example", true),
        ("https://gw.example", "gw.example:443", true), ("wss://gw.example", "gw.example", true),
        ("https://gw.example:8443", "gw.example:8443", true), ("https://GW.Example:8443", "gw.eXample:8443", true),
        ("https://192.0.2.1:8443", "192.0.2.1:8443", true), ("https://[2001:db8::1]:8443", "[2001:db8::1]:8443", true),
        ("http://localhost:8080", "localhost:8080", false), ("ws://localhost", "localhost:80", false),
        ("https://gw.example", "gw.example", false),
    ])
    func ownOriginIsAllowed(_ origin: String, _ host: String, _ secure: Bool) throws {
        #expect(try judge(origin, [], host: host, secure: secure) == .allowed)
    }

    @Test(arguments: [
        ("http://gw.example", "gw.example", true), ("http://gw.example:443", "gw.example:443", true),
        ("ws://gw.example:8443", "gw.example:8443", true), ("https://gw.example:8443", "gw.example", true),
        ("https://gw.example", "gw.example:8443", true), ("https://gw.example", "gw.example:80", false),
        ("https://gw.example.evil.com", "gw.example", true), ("https://gw.example", "gw.example.evil.com", true),
        ("https://gw.example", "", true), ("https://gw.example", "gw.example:", true),
        ("https://gw.example", "u@gw.example", true), ("https://gw.example", "gw.example:x", true),
        ("https://gw.example", "gw.example, gw.example", true), ("HTTPS://gw.example", "gw.example", true),
        ("capacitor://gw.example", "gw.example", true), ("ftp://gw.example", "gw.example", false),
        ("https://", "", true), ("https://gw.example/", "gw.example", true),
    ])
    func foreignOrDowngradedOwnOriginIsRefused(_ origin: String, _ host: String, _ secure: Bool) throws {
        #expect(try judge(origin, [], host: host, secure: secure) == .refused)
    }

    @Test func ownOriginWithoutHostIsRefused() throws {
        #expect(try judge("https://gw.example", [], host: nil) == .refused)
        #expect(try judge("https://gw.example", [], host: String(repeating: "a", count: 1_000_000)) == .refused)
    }

    /// A page whose name was made to lead to the gateway's address counted as the gateway's own, since `Host` said so.
    @Test(arguments: [
        ("https://evil.example:8443", "evil.example:8443", true), ("http://evil.example", "evil.example", false),
        ("https://localhost.evil.example", "localhost.evil.example", true), ("https://1.2.3.evil", "1.2.3.evil", true),
    ])
    func aReboundNameIsNotOwn(_ origin: String, _ host: String, _ secure: Bool) throws {
        #expect(try judge(origin, [], host: host, secure: secure) == .refused)
        #expect(try judge(origin, ["https://good.com"], host: host, secure: secure) == .refused)
    }

    @Test func theHostOfAListedOriginIsAnOwnName() throws {
        #expect(try judge("wss://good.com:8443", host: "good.com:8443") == .allowed)
        #expect(try judge("wss://good.com:8443", host: "gw.example:8443") == .refused)
    }

    /// socket.io CVE-2020-28481: every origin was echoed.
    @Test func corsUsesTheSameListAndNeverReflectsAStranger() throws {
        let policy = try OriginPolicy(allowing: OriginPolicyTests.list)
        func cors(_ origin: String, _ policy: OriginPolicy) -> String? {
            policy.accessControlAllowOrigin([Array(origin.utf8)]).map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(cors("https://good.com", policy) == "https://good.com")
        for stranger in ["https://evil.com", "null", "https://good.com\r\nX: y", "HTTPS://good.com", ""] {
            #expect(cors(stranger, policy) == nil)
        }
        #expect(policy.accessControlAllowOrigin([]) == nil)
        let star = try OriginPolicy(allowing: ["*"])
        #expect(cors("https://evil.com", star) == "*")
        #expect(cors("null", star) == nil)
        #expect(cors("null", try OriginPolicy(allowing: ["null"])) == "null")
    }
}
