import Commands
import Core
import HTTPCodec
import Reactors
import Testing

@testable import Operations

@Suite struct AnswerCountsTests {
    @Test func answersAreCountedByRouteAndClass() throws {
        let routes = AnsweredRoutes([])
        let publish = routes.place(GatewayRoutes.match(.post, ["v1", "broadcast"]), nil)
        #expect(routes.labels[publish].method == "POST" && routes.labels[publish].route == "/v1/broadcast")
        let topic = routes.place(GatewayRoutes.match(.head, ["v1", "topics", "shop:1"]), nil)
        #expect(routes.labels[topic].route == "/v1/topics/{topic}")
        let unknown = routes.place(GatewayRoutes.match(.get, ["x", "y"]), nil)
        #expect(routes.labels[unknown].route == "other")
        #expect(routes.place(GatewayRoutes.match(.delete, ["v1", "broadcast"]), nil) == unknown)
        let counts = AnswerCounts(routes)
        for status in [200, 204, 503, 599] { counts.add(publish, status: status) }
        counts.add(AnsweredRoutes.Other.webSocket.rawValue, status: 101)
        #expect(counts.counts(publish) == [0, 2, 0, 0, 2])
        #expect(counts.counts(AnsweredRoutes.Other.webSocket.rawValue) == [1, 0, 0, 0, 0])
        #expect(counts.counts(topic) == [0, 0, 0, 0, 0])
    }

    /// Only the first route of a command was counted, and the others under its name.
    @Test func eachRouteOfACommandIsCounted() throws {
        let text = [
            "@command play", "@summary S.", "@http POST /v1/play/{trackId}", "@http PUT /v1/tracks/{trackId}/now 204",
            "@allow user", "@arg trackId id", "@key tracks dj:{trackId}#tracks", "@returns {}", "@cost O(1)",
        ].map { "-- " + $0 + "\n" }.joined()
        let file = ScriptFile(name: "play", path: "play.lua", bytes: Array((text + "return '{}'\n").utf8))
        let catalogue = try Catalogue(embedded: [], operators: [file], namespaces: ["dj"], reservedPaths: [])
        let routes = AnsweredRoutes(catalogue.commands)
        for (method, path) in [(HTTPMethod.post, ["v1", "play", "7"]), (.put, ["v1", "tracks", "7", "now"])] {
            guard case .command(_, let route, _) = catalogue.route(method: method, segments: path) else {
                Issue.record("no route \(path)")
                continue
            }
            let label = routes.labels[routes.place(.none, route)]
            #expect(label.method == method.rawValue && label.route == route.path.description)
        }
    }

    @Test func eachNamespaceHasItsCounters() throws {
        let statistics = NamespaceStatistics(["shop", "order"])
        #expect(statistics.names == ["order", "shop"])
        statistics.counts(of: try #require(Topic("shop:1"))).events.add(2)
        statistics.counts(of: try #require(Topic("shop:2"))).events.add(1)
        statistics.counts(of: try #require(Topic("other:2"))).events.add(9)
        #expect(statistics.counts(named: "shop")?.events.value == 3)
        #expect(statistics.counts(named: "order")?.events.value == 0)
        #expect(statistics.counts(named: "other") == nil)
    }
}
