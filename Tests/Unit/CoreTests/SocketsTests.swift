import Core
import TestSupport
import Testing

/// Paths and topics with parts that are filled in.
@Suite struct SocketsTests {
    private func segments(_ path: String) -> [[UInt8]] {
        path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { Array($0.utf8) }
    }

    @Test(arguments: [
        "", "/", "dj", "/dj/", "//dj", "/{x}", "/{x}/dj", "/a/{}", "/a/{1}", "/a/{x}y", "/a/{x", "/a/x}", "/a/{x}/{x}",
        "/a b", "/é", "/a?b", "/a/..", "/.", "/a/b/c/d/e/f/g/h/i", "/" + String(repeating: "a", count: 128),
    ])
    func whatIsNoPatternIsRefused(_ text: String) {
        #expect(PathPattern(text) == nil)
    }

    @Test func aPatternTakesItsPathsOnly() throws {
        let pattern = try #require(PathPattern("/shops/{shopId}/dj"))
        #expect(pattern.arguments == ["shopId"])
        #expect(pattern.values(in: segments("/shops/42/dj")) == ["shopId": Array("42".utf8)])
        #expect(pattern.values(in: segments("/shops/42/dj/")) == ["shopId": Array("42".utf8)])
        for path in ["/shops//dj", "/shops/42", "/shops/42/dj/x", "/shop/42/dj", "/shops/42/DJ", "/shops/42/dj//", "/"]
        {
            #expect(pattern.values(in: segments(path)) == nil, "\(path)")
        }
    }

    @Test func theMoreExactPatternGoesFirst() throws {
        let exact = try #require(PathPattern("/a/b/{x}"))
        let loose = try #require(PathPattern("/a/{y}/c"))
        #expect(exact.goesBefore(loose) && !loose.goesBefore(exact) && !exact.isAlike(loose))
        #expect(try #require(PathPattern("/a/{z}/c")).isAlike(loose))
        #expect(!(try #require(PathPattern("/a/{z}/d")).isAlike(loose)))
    }

    @Test(arguments: [
        "", "shop", "{x}", "{x}:1", "shop:", "sh{x}:1", "Shop:1", "shop:a b", "shop:{", "shop:}", "shop:{}",
        "shop:{a b}",
    ])
    func whatIsNoTemplateIsRefused(_ text: String) {
        #expect(TopicTemplate(text) == nil)
    }

    @Test func aTemplateMakesTopicsOnly() throws {
        let template = try #require(TopicTemplate("booking:{shop}::{number}"))
        #expect(template.namespace == "booking" && template.arguments == ["shop", "number"] && !template.needsUser)
        let values = ["shop": Array("42".utf8), "number": Array("7".utf8)]
        #expect(template.topic(values) == Topic("booking:42::7"))
        #expect(template.topic(["shop": Array("42".utf8)]) == nil)
        for wrong in ["", "a b", "a/b", "a#log", "{x}", "\u{e9}", String(repeating: "a", count: 201)] {
            let topic = try #require(TopicTemplate("shop:{x}")).topic(["x": Array(wrong.utf8)])
            #expect(topic == nil, "\(wrong)")
        }
        #expect(try #require(TopicTemplate("user:{sub}")).needsUser)
    }

    @Test func theAppsPathsHaveRules() {
        #expect(
            StandardTables.sockets.keys.sorted() == ["/bookings", "/challenges", "/dj", "/queue", "/social", "/ws"])
        #expect(StandardTables.sockets.keys.allSatisfy { PathPattern($0) != nil })
        #expect(StandardTables.sockets["/ws"] == SocketRules())
        #expect(StandardTables.sockets["/dj"]?.alias == ["shopId": "dj"])
        #expect(StandardTables.sockets["/dj"]?.fill == ["shopId"])
        #expect(
            StandardTables.socketIONamespaces == ["/", "/queue", "/bookings", "/social", "/dj", "/challenges"])
        #expect(StandardTables.sockets.values.count { $0.join.map(\.description) == ["user:{sub}"] } == 5)
    }
}
