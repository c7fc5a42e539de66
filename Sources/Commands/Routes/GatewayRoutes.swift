public import HTTPCodec
import Rights

/// Every route of the gateway's own, in one list.
///
/// A route that is not listed here does not exist. OpenAPI has an operation for each, and `docs/rights-table.md` a row.
/// Scripts add routes by their headers.
public enum GatewayRoutes {
    /// The target of a method and a path.
    public enum Match: Sendable {
        /// A route.
        case route(GatewayRoute)
        /// A path with other methods than the given one, and the first of its routes.
        case otherMethods([HTTPMethod], GatewayRoute)
        /// No route of the gateway's own.
        case none

        /// The route whose rules judge the credentials; for a wrong method, the first route of the path.
        public var judged: GatewayRoute? {
            switch self {
            case .route(let route), .otherMethods(_, let route): route
            case .none: nil
            }
        }
    }

    private static func services(_ verb: String, _ verbs: String) -> GatewayRoute.Callers {
        .services(unauthorized: "an API key is needed to " + verb, forbidden: "only services " + verbs)
    }

    private static let members = services("change rights", "change rights")
    private static let givenUp = services("see what was given up", "see what was given up")
    private static let tracers = services("trace an event", "may trace an event")
    private static let operators = services("see all nodes", "may see all nodes")
    private static let watchers = services("watch a session", "may watch a session")
    private static let tapPath: StaticString = "/v1/sessions/{id}/tap"
    private static let memberPath: StaticString = "/v1/topics/{topic}/members/{user}"
    private static let ofTopic = GatewayRoute.Reach.topic(argument: "topic")

    /// All routes of the gateway.
    public static let all: [GatewayRoute] = [
        GatewayRoute(
            .broadcast, .post, "/v1/broadcast", services("publish", "publish over HTTP"), .write, .messages),
        GatewayRoute(.realtimeBroadcast, .post, "/realtime/v1/api/broadcast", .named, .write, .messages),
        GatewayRoute(
            .realtimeBroadcastOne, .post, "/realtime/v1/api/broadcast/{topic}/events/{event}", .named, .write,
            .messages),
        GatewayRoute(.topic, .get, "/v1/topics/{topic}", .admitted, .read, ofTopic),
        GatewayRoute(.events, .get, "/v1/topics/{topic}/events", .admitted, .read, ofTopic),
        GatewayRoute(.presence, .get, "/v1/topics/{topic}/presence", .admitted, .read, ofTopic),
        GatewayRoute(
            .audit, .get, "/v1/topics/{topic}/audit",
            services("audit a topic", "may audit a topic"), .read, ofTopic),
        GatewayRoute(.trace, .get, "/v1/topics/{topic}/trace", tracers, .read, ofTopic),
        GatewayRoute(.why, .get, "/v1/why", tracers, .read, .topicOfQuery),
        GatewayRoute(.addMember, .put, memberPath, members, .write, ofTopic),
        GatewayRoute(.removeMember, .delete, memberPath, members, .write, ofTopic),
        GatewayRoute(.revoke, .post, "/v1/revocations", members, .write, .everything),
        GatewayRoute(.exportUser, .get, "/v1/users/{userId}/data", .owner(argument: "userId"), .read, .everything),
        GatewayRoute(.eraseUser, .delete, "/v1/users/{userId}/data", .owner(argument: "userId"), .write, .everything),
        GatewayRoute(.deadLetters, .get, "/v1/dead-letters", givenUp, .read, .everything),
        GatewayRoute(.dropDeadLetters, .delete, "/v1/dead-letters", givenUp, .write, .everything),
        GatewayRoute(.retryDeadLetters, .post, "/v1/dead-letters/retry", givenUp, .write, .everything),
        GatewayRoute(
            .health, .get, "/v1/health", services("see the health of a gateway", "see the health of a gateway"), .read,
            .everything),
        GatewayRoute(.nodes, .get, "/v1/nodes", operators, .read, .everything),
        GatewayRoute(.topTopics, .get, "/v1/topics", operators, .read, .everything),
        GatewayRoute(.sessions, .get, "/v1/sessions", operators, .read, .everything),
        GatewayRoute(.slowSessions, .get, "/v1/slow", operators, .read, .everything),
        GatewayRoute(.talkers, .get, "/v1/talkers", operators, .read, .everything),
        GatewayRoute(
            .closeSession, .post, "/v1/sessions/{id}/close", services("close a session", "may close a session"), .write,
            .everything),
        GatewayRoute(.openTap, .post, tapPath, watchers, .tap, .everything),
        GatewayRoute(.readTap, .get, tapPath, watchers, .tap, .everything),
        GatewayRoute(.endTap, .delete, tapPath, watchers, .tap, .everything),
        GatewayRoute(.outbox, .get, "/v1/outbox", operators, .read, .everything),
        GatewayRoute(.workers, .get, "/v1/workers", operators, .read, .everything),
        GatewayRoute(.couriers, .get, "/v1/couriers", operators, .read, .everything),
        GatewayRoute(.webhooks, .get, "/v1/webhooks", operators, .read, .everything),
        GatewayRoute(.openAPI, .get, "/v1/openapi.json", .known),
        GatewayRoute(.command, .post, "/v1/commands/{name}", .admitted, nil, .command),
        GatewayRoute(.livez, .get, "/livez", .everybody),
        GatewayRoute(.readyz, .get, "/readyz", .machine),
        GatewayRoute(.metrics, .get, "/metrics", .machine),
    ]

    private static let byCount: [[GatewayRoute]] = {
        let longest = all.map(\.path.segments.count).max() ?? 0
        return (0...longest).map { count in all.filter { $0.path.segments.count == count } }
    }()

    /// The paths under which no command may lie: each route's path up to its first argument.
    ///
    /// `/v1/users` is not reserved: commands may lie under it unless their path could match one of the gateway's own.
    static let reserved: [String] = {
        var starts: [String] = []
        for start in all.map(\.path.literalStart) where start != "/v1/users" && !starts.contains(start) {
            starts.append(start)
        }
        return starts
    }()

    /// The gateway's own path that a command's route could match as well; `nil` when there is none.
    static func path(sameAs route: HTTPRoute) -> RoutePath? {
        all.map(\.path).first { $0.overlaps(route.path) }
    }

    /// Finds the route of a method and the decoded parts of a path; HEAD matches the routes of GET.
    public static func match(_ method: HTTPMethod, _ segments: [String]) -> Match {
        guard byCount.indices.contains(segments.count) else { return .none }
        let wanted = method == .head ? .get : method
        var first: GatewayRoute?
        for route in byCount[segments.count] where route.path.fits(segments) {
            if route.method == wanted { return .route(route) }
            first = first ?? route
        }
        guard let first else { return .none }
        let methods = byCount[segments.count].filter { $0.path == first.path }.map(\.method)
        return .otherMethods(methods.flatMap { $0 == .get ? [.get, .head] : [$0] }, first)
    }
}
