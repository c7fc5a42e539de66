public import Commands
import HTTPCodec

/// The routes by which answers to HTTP requests are counted.
///
/// The list is made at the start, so no client can make it longer. Immutable.
public struct AnsweredRoutes: Sendable {
    /// Requests that belong to no route of the list.
    public enum Other: Int, CaseIterable, Sendable {
        /// There is no such path, or none for the method; pages, too.
        case unknown
        /// A request to open a WebSocket.
        case webSocket
        /// A request to open an event stream.
        case eventStream
        /// A poll.
        case polling

        fileprivate var label: (method: String, route: String) {
            switch self {
            case .unknown: ("any", "other")
            case .webSocket: ("GET", "websocket")
            case .eventStream: ("GET", "event_stream")
            case .polling: ("any", "polling")
            }
        }
    }

    /// Method and path of each place.
    let labels: [(method: String, route: String)]
    private let routes: [GatewayRoute.Name: Int]
    private let commands: [HTTPRoute: Int]

    /// The gateway's own routes, and all of the commands.
    public init(_ commands: [CommandDescriptor]) {
        var labels = Other.allCases.map(\.label)
        var (routes, places): ([GatewayRoute.Name: Int], [HTTPRoute: Int]) = ([:], [:])
        for route in GatewayRoutes.all {
            routes[route.name] = labels.count
            labels.append((route.method.rawValue, route.path.description))
        }
        for route in commands.flatMap(\.routes) {
            places[route] = labels.count
            labels.append((route.method.rawValue, route.path.description))
        }
        (self.labels, self.routes, self.commands) = (labels, routes, places)
    }

    /// The place of a request; `own` is the route of a command that has its path.
    public func place(_ match: GatewayRoutes.Match, _ own: HTTPRoute?) -> Int {
        if case .route(let route) = match { return routes[route.name] ?? Other.unknown.rawValue }
        return own.flatMap { commands[$0] } ?? Other.unknown.rawValue
    }
}
