import Testing

@testable import RedisLink

@Suite struct RedisURLTests {
    struct Accepted: Sendable {
        let text: String
        let endpoint: RedisURL.Endpoint
        var user: String?
        var password: String?
        var database = 0
        let shown: String
    }

    static let accepted: [Accepted] = [
        Accepted(
            text: "redis://localhost", endpoint: .network(host: "localhost", port: 6_379, tls: false),
            shown: "redis://localhost:6379/0"),
        Accepted(
            text: "REDIS://10.0.0.1:7000/3", endpoint: .network(host: "10.0.0.1", port: 7_000, tls: false), database: 3,
            shown: "redis://10.0.0.1:7000/3"),
        Accepted(
            text: "rediss://app:s%40cr%3At@redis.example.com/",
            endpoint: .network(host: "redis.example.com", port: 6_379, tls: true), user: "app", password: "s@cr:t",
            shown: "rediss://app:***@redis.example.com:6379/0"),
        Accepted(
            text: "redis://:a:b@h", endpoint: .network(host: "h", port: 6_379, tls: false), password: "a:b",
            shown: "redis://:***@h:6379/0"),
        Accepted(
            text: "redis://[::1]:6380/1", endpoint: .network(host: "::1", port: 6_380, tls: false), database: 1,
            shown: "redis://[::1]:6380/1"),
        Accepted(
            text: "redis://[fe80::1]", endpoint: .network(host: "fe80::1", port: 6_379, tls: false),
            shown: "redis://[fe80::1]:6379/0"),
        Accepted(
            text: "unix:///run/redis.sock", endpoint: .unix(path: bytes("/run/redis.sock")),
            shown: "unix:///run/redis.sock?db=0"),
        Accepted(
            text: "unix:///run/a%20b?db=2&user=u%26&password=p%3D", endpoint: .unix(path: bytes("/run/a b")),
            user: "u&", password: "p=", database: 2, shown: "unix:///run/a?b?db=2&user=u&&password=***"),
        Accepted(
            text: "unix:///s?password=x", endpoint: .unix(path: bytes("/s")), password: "x",
            shown: "unix:///s?db=0&user=&password=***"),
    ]

    static let refused: [(String, RedisURLError)] = [
        ("", .scheme), ("localhost:6379", .scheme), ("http://localhost", .scheme), ("redis:localhost", .scheme),
        ("redis:/localhost", .scheme), ("redis://", .host), ("redis:///1", .host), ("redis://:6379", .host),
        ("redis://a b", .character), ("redis://h\u{e9}", .character), ("redis://h\n", .character),
        ("redis://a@b@c", .character), ("redis://" + String(repeating: "a", count: 2_050), .character),
        ("redis://" + String(repeating: "a", count: 254), .host), ("redis://h#x", .fragment),
        ("redis://user@h", .credentials), ("redis://user:@h", .credentials), ("redis://:@h", .credentials),
        ("redis://:p%4@h", .percent), ("redis://:p%zz@h", .percent), ("redis://:p%00@h", .percent),
        ("redis://:p%@h", .percent), ("redis://h:0", .port), ("redis://h:65536", .port), ("redis://h:", .port),
        ("redis://h:+1", .port), ("redis://h:6379x", .port), ("redis://h:01", .port), ("redis://::1", .host),
        ("redis://[::1", .host), ("redis://[::1]x", .host), ("redis://[h]", .host), ("redis://[]", .host),
        ("redis://-h", .host), ("redis://.h", .host), ("redis://h%41", .host), ("redis://h/-1", .database),
        ("redis://h/65536", .database), ("redis://h/1/2", .database), ("redis://h/x", .database),
        ("redis://h?db=1", .query), ("unix://", .path), ("unix:///", .path), ("unix://run/x", .path),
        ("unix:///" + String(repeating: "a", count: 107), .path), ("unix:///s?", .query), ("unix:///s?db", .query),
        ("unix:///s?db=1&db=2", .query), ("unix:///s?DB=1", .query), ("unix:///s?db=x", .database),
        ("unix:///s?db=", .database), ("unix:///s?db=1&", .query), ("unix:///s?user=u", .credentials),
        ("unix:///s?password=", .credentials), ("unix:///s%00", .percent),
    ]

    static func group(
        _ hosts: [(String, Int)], _ name: String, tls: Bool = false, user: String? = nil, password: String? = nil
    ) -> RedisURL.Endpoint {
        .sentinel(
            SentinelGroup(
                sentinels: hosts.map { SentinelGroup.Address(host: $0.0, port: $0.1) }, name: bytes(name), tls: tls,
                user: user.map { bytes($0) }, password: password.map { bytes($0) }))
    }

    static let groups: [Accepted] = [
        Accepted(
            text: "redis+sentinel://a,b:5000,[::1]:5001/mymaster",
            endpoint: group([("a", 26_379), ("b", 5_000), ("::1", 5_001)], "mymaster"),
            shown: "redis+sentinel://a:26379,b:5000,[::1]:5001/mymaster?db=0"),
        Accepted(
            text: "rediss+sentinel://app:p%2C@a/m.1_2-3?db=4&sentinel-user=s&sentinel-password=q%26",
            endpoint: group([("a", 26_379)], "m.1_2-3", tls: true, user: "s", password: "q&"), user: "app",
            password: "p,", database: 4,
            shown: "rediss+sentinel://app:***@a:26379/m.1_2-3?db=4&sentinel-user=s&sentinel-password=***"),
        Accepted(
            text: "redis+sentinel://a/m?sentinel-password=x", endpoint: group([("a", 26_379)], "m", password: "x"),
            shown: "redis+sentinel://a:26379/m?db=0&sentinel-user=&sentinel-password=***"),
    ]

    static let refusedGroups: [(String, RedisURLError)] = [
        ("redis+sentinel://", .host), ("redis+sentinel:///m", .host), ("redis+sentinel://a,/m", .host),
        ("redis+sentinel://,a/m", .host), ("redis+sentinel://a", .master), ("redis+sentinel://a/", .master),
        ("redis+sentinel://a/m/1", .master), ("redis+sentinel://a/m%41", .master),
        ("redis+sentinel://a/" + String(repeating: "m", count: 65), .master),
        ("redis+sentinel://a,b,a/m", .sentinels), ("redis+sentinel://a:26379,a/m", .sentinels),
        ("redis+sentinel://" + (1...16).map { "h\($0)" }.joined(separator: ",") + "/m", .sentinels),
        ("redis+sentinel://a:0/m", .port), ("redis+sentinel://u@a/m", .credentials),
        ("redis+sentinel://a/m?", .sentinelQuery), ("redis+sentinel://a/m?db", .sentinelQuery),
        ("redis+sentinel://a/m?db=1&db=1", .sentinelQuery), ("redis+sentinel://a/m?user=x", .sentinelQuery),
        ("redis+sentinel://a/m?db=x", .database), ("redis+sentinel://a/m?sentinel-user=x", .credentials),
        ("redis+sentinel://a/m?sentinel-password=", .credentials),
    ]

    @Test(arguments: groups)
    func aURLOfSentinelsMeansWhatItSays(_ row: Accepted) throws { try aURLMeansWhatItSays(row) }

    @Test(arguments: refusedGroups.indices)
    func aMalformedURLOfSentinelsIsRefused(_ index: Int) {
        let (text, error) = RedisURLTests.refusedGroups[index]
        #expect(throws: error) { try RedisURL(parsing: text) }
    }

    @Test(arguments: accepted)
    func aURLMeansWhatItSays(_ row: Accepted) throws {
        let url = try RedisURL(parsing: row.text)
        #expect(url.endpoint == row.endpoint)
        #expect(url.user == row.user.map { bytes($0) })
        #expect(url.password == row.password.map { bytes($0) })
        #expect(url.database == row.database)
        #expect(url.description == row.shown)
    }

    @Test(arguments: refused.indices)
    func aMalformedURLIsRefused(_ index: Int) {
        let (text, error) = RedisURLTests.refused[index]
        #expect(throws: error) { try RedisURL(parsing: text) }
    }

    @Test func thePasswordIsNeverPrinted() throws {
        for text in ["redis://u:hunter2@h", "unix:///s?password=hunter2"] {
            let url = try RedisURL(parsing: text)
            var dumped = ""
            dump(url, to: &dumped)
            for shown in [url.description, "\(url)", String(reflecting: url), dumped, "\([url])", "\(url as Any?)"] {
                #expect(!shown.utf8.elementsEqual("".utf8) && !bytes(shown).contains(subsequence: bytes("hunter2")))
            }
        }
    }

    @Test func theGreetingAuthenticatesThenSelects() throws {
        let named = try RedisURL(parsing: "redis://u:p@h/2").greeting.map(\.arguments)
        #expect(named == [[bytes("AUTH"), bytes("u"), bytes("p")], [bytes("SELECT"), bytes("2")]])
        let plain = try RedisURL(parsing: "redis://:p@h").greeting.map(\.arguments)
        #expect(plain == [[bytes("AUTH"), bytes("p")]])
        #expect(try RedisURL(parsing: "redis://h").greeting.isEmpty)
    }

    @Test func everyErrorSaysHowToMendIt() {
        for error in RedisURLError.allCases { #expect(error.message.utf8.count > 30) }
    }
}

extension Array where Element == UInt8 {
    fileprivate func contains(subsequence: [UInt8]) -> Bool {
        indices.contains { self[$0...].starts(with: subsequence) }
    }
}
