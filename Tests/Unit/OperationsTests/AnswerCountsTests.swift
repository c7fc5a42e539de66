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
