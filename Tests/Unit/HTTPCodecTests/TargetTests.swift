import HTTPCodec
import Testing

@Suite struct TargetTests {
    private func segments(_ path: String) throws -> [String]? {
        try head(get(path: path)).pathSegments?.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [
        ("/", [""]), ("/a", ["a"]), ("/a/", ["a", ""]), ("/a//b", ["a", "", "b"]),
        ("/v1/topics/room%3A1/events", ["v1", "topics", "room:1", "events"]), ("/a+b", ["a+b"]),
        ("/%e2%82%AC", ["\u{20ac}"]), ("/a%20b", ["a b"]), ("/...", ["..."]), ("/%2e%2e.", ["..."]),
        ("/a?x=/../b", ["a"]), ("/%252e%252e", ["%2e%2e"]), ("/a%25", ["a%"]),
    ])
    func segmentsAreDecodedOnce(_ path: String, _ expected: [String]) throws {
        #expect(try segments(path) == expected)
    }

    @Test(arguments: [
        "/%", "/%4", "/%4g", "/%%41", "/a/../b", "/a/./b", "/..", "/%2e%2e/b", "/.%2E", "/%2e", "/a%2fb", "/a%2Fb",
        "/a%00", "/a%5cb", "/a%0d%0ab", "/a%7f", "/a%1b",
    ])
    func dangerousPathsHaveNoSegments(_ path: String) throws {
        #expect(try head(get(path: path)).pathSegments == nil)
    }

    @Test func queryItems() throws {
        let found = try head(get(path: "/?after=12&b=&c&d=x%3Dy+z&%61=2&after%5B%5D=1&&e=1&e=2&bad=%zz"))
        #expect(found.queryItem("after") == .one(Array("12".utf8)))
        #expect(found.queryItem("b") == .one([]))
        #expect(found.queryItem("c") == .one([]))
        #expect(found.queryItem("d") == .one(Array("x=y z".utf8)))
        #expect(found.queryItem("a") == .one(Array("2".utf8)))
        #expect(found.queryItem("after[]") == .one(Array("1".utf8)))
        #expect(found.queryItem("e") == .repeated)
        #expect(found.queryItem("bad") == .malformed)
        #expect(found.queryItem("none") == .absent)
        #expect(found.queryItems == nil)
    }

    @Test func queryItemsInOrder() throws {
        let items = try #require(try head(get(path: "/?b=1&a=%32&&b")).queryItems)
        #expect(items.map { String(decoding: $0.name, as: UTF8.self) } == ["b", "a", "b"])
        #expect(items.map { String(decoding: $0.value, as: UTF8.self) } == ["1", "2", ""])
        #expect(try head(get(path: "/")).queryItems?.isEmpty == true)
    }

    /// A malformed value does not hide that the item came twice.
    @Test func repeatedMalformedItemIsRepeated() throws {
        #expect(try head(get(path: "/?a=%zz&a=1")).queryItem("a") == .repeated)
    }
}
