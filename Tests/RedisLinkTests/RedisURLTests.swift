import RedisLink
import Testing

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
