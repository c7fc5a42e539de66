import Core
import HTTPCodec
import Rights
import TestSupport
import Testing

@testable import Commands

/// The list of the gateway's routes is whole, and says who may use each of them.
@Suite struct GatewayRoutesTests {
    private static let policies = StandardTables.namespaces

    private static func identity(
        _ user: String, _ role: Identity.Role = .user, _ topics: [String] = []
    ) throws -> Caller {
        let patterns = topics.compactMap { TopicPattern($0) }
        return .user(try #require(Identity(user: Array(user.utf8), role: role, topics: patterns, expiresAt: 0)))
    }

    /// The first letter of each caller's outcome: anonymous, publishable, user, other user, bound service, service, key that
    /// reads, key that writes; `.` is allowed, `u` unauthorized, `f` forbidden.
    ///
    /// A route that is added needs a row here.
    private static let table: [String: String] = [
        "POST /v1/broadcast": "uuff..f.", "POST /realtime/v1/api/broadcast": "uu....f.",
        "POST /realtime/v1/api/broadcast/{topic}/events/{event}": "uu....f.",
        "GET /v1/topics/{topic}": ".......f", "GET /v1/topics/{topic}/events": ".......f",
        "GET /v1/topics/{topic}/presence": ".......f", "GET /v1/topics/{topic}/audit": "uuff...f",
        "PUT /v1/topics/{topic}/members/{user}": "uuff..f.", "DELETE /v1/topics/{topic}/members/{user}": "uuff..f.",
        "POST /v1/revocations": "uufff.f.", "GET /v1/users/{userId}/data": "uu.ff..f",
        "DELETE /v1/users/{userId}/data": "uu.ff.f.", "GET /v1/dead-letters": "uufff..f",
        "DELETE /v1/dead-letters": "uufff.f.", "POST /v1/dead-letters/retry": "uufff.f.",
        "GET /v1/health": "uufff..f", "GET /v1/openapi.json": "........", "POST /v1/commands/{name}": "........",
        "GET /v1/nodes": "uufff..f", "GET /v1/topics": "uufff..f", "GET /v1/sessions": "uufff..f",
        "GET /v1/slow": "uufff..f", "GET /v1/talkers": "uufff..f", "POST /v1/sessions/{id}/close": "uufff.f.",
        "POST /v1/sessions/{id}/tap": "uuffffff", "GET /v1/sessions/{id}/tap": "uuffffff",
        "DELETE /v1/sessions/{id}/tap": "uuffffff",
        "GET /v1/outbox": "uufff..f", "GET /v1/workers": "uufff..f", "GET /v1/couriers": "uufff..f",
        "GET /v1/webhooks": "uufff..f", "GET /v1/topics/{topic}/trace": "uuff...f", "GET /v1/why": "uuff...f",
        "GET /livez": "........", "GET /readyz": "........", "GET /metrics": "........",
    ]

    private static func differences(_ routes: [GatewayRoute]) throws -> [String] {
        let callers: [Caller] = [
            .anonymous, .publishable("web"), try identity("ann"), try identity("bob"),
            try identity("kitchen", .service, ["order:7"]), .service("backend"),
            .service(APIKeyHolder("r", .read)), .service(APIKeyHolder("w", .write)),
        ]
        let rights = CallRights(try AccessPolicy(policies), allowsAnonymous: true)
        let values = ["{topic}": "order:7", "{user}": "cem", "{userId}": "ann", "{event}": "e", "{name}": "queue"]
        var found: [String] = []
        for route in routes {
            let name = "\(route.method.rawValue) \(route.path)"
            let segments = route.path.description.split(separator: "/").map { values[String($0)] ?? String($0) }
            let outcome = callers.map { caller in
                switch rights.refusal(route, segments, caller)?.code {
                case nil: "."
                case .unauthorized: "u"
                case .forbidden: "f"
                default: "?"
                }
            }.joined()
            if table[name] != outcome { found.append("\(name): \(outcome), in the table \(table[name] ?? "no row")") }
        }
        let names = routes.map { "\($0.method.rawValue) \($0.path)" }
        return found + table.keys.filter { !names.contains($0) }.map { "\($0): no such route" }
    }

    @Test func everyRouteAdmitsWhomTheTableSays() throws {
        #expect(try GatewayRoutesTests.differences(GatewayRoutes.all) == [])
        #expect(Set(GatewayRoutes.all.map(\.name)) == Set(GatewayRoute.Name.allCases), "each once, and all of them")
        #expect(GatewayRoutes.all.count == GatewayRoute.Name.allCases.count)
    }

    @Test func aRouteWithoutARowAndARowWithoutARouteAreFound() throws {
        let more = GatewayRoutes.all + [GatewayRoute(.health, .get, "/v1/nowhere", .everybody)]
        #expect(try GatewayRoutesTests.differences(more) == ["GET /v1/nowhere: ........, in the table no row"])
        let less = GatewayRoutes.all.filter { $0.name != .revoke }
        #expect(try GatewayRoutesTests.differences(less) == ["POST /v1/revocations: no such route"])
    }

    @Test func everyRouteIsDescribedAndNothingElseOfTheGateways() throws {
        let user = "@arg userId user\n@key notes user:{userId}#notes\n@summary S.\n@allow worker\n@cost O(1)"
        let erases = script("e", "@command e\n\(user)\n@erases\n@returns {}\n@weight 300")
        let exports = script("t", "@command t\n\(user)\n@exports\n@readonly\n@returns {notes}\n@weight 200")
        let described = OpenAPI(try catalogue(erases, exports), version: "1", limits: Limits()).document()
        let root = try JSON(parsing: described, limits: JSON.Limits(depthMax: 32, elementsMax: 100_000)).root
        let paths = try #require(root["paths"])
        let names = paths.members.flatMap { path in path.members.map { $0.name.uppercased() + " " + path.name } }
        let routes = GatewayRoutes.all.filter { $0.name != .command }.map { "\($0.method.rawValue) \($0.path)" }
        #expect(names.sorted() == routes.sorted())
    }

    @Test func aPathWithAnotherMethodNamesTheRightOnes() {
        guard case .otherMethods(let methods, let route) = GatewayRoutes.match(.put, ["v1", "dead-letters"]) else {
            Issue.record("another match")
            return
        }
        #expect(methods == [.get, .head, .delete] && route.name == .deadLetters)
        guard case .route(let head) = GatewayRoutes.match(.head, ["v1", "topics", "shop:1", "events"]) else {
            Issue.record("HEAD goes where GET goes")
            return
        }
        #expect(head.name == .events)
        for path in [[], ["v1"], ["v1", "topics", "shop:1", "other"], ["V1", "broadcast"], ["v1", "broadcast", ""]] {
            guard case .none = GatewayRoutes.match(.get, path) else {
                Issue.record("\(path)")
                continue
            }
        }
    }

    /// A namespace that is closed is closed for commands, too: they told what its topics did not.
    @Test func withoutATokenOnlyCommandsOfOpenNamespacesAreReached() throws {
        let file = reader("queue", "@arg shopId id", more: "@key a shop:{shopId}#a", allow: "anonymous|user")
        let all = try catalogue(file)
        let queue = try #require(all.command(named: "queue"))
        var policies = StandardTables.namespaces
        let open = CallRights(try AccessPolicy(policies), allowsAnonymous: true)
        #expect(open.refusal(queue, .anonymous) == nil && open.reaches(queue, .anonymous))
        policies["shop"]?.subscribe = .user
        let closed = CallRights(try AccessPolicy(policies), allowsAnonymous: true)
        for caller: Caller in [.anonymous, .publishable("web")] {
            #expect(closed.refusal(queue, caller)?.code == .unauthorized && !closed.reaches(queue, caller))
        }
        #expect(closed.refusal(queue, try GatewayRoutesTests.identity("ann")) == nil)
    }
}
