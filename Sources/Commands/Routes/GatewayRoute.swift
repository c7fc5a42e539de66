public import HTTPCodec
public import Rights

/// A route of the gateway's own: a method, a path, and the callers and rights that it needs.
///
/// Immutable and thread-safe. Credentials and rights are judged by these members and by nothing else.
public final class GatewayRoute: Sendable {
    /// The name of a route.
    public enum Name: String, CaseIterable, Sendable {
        case livez, readyz, metrics
        case broadcast, realtimeBroadcast, realtimeBroadcastOne
        case topic, events, presence, audit
        case addMember, removeMember, revoke
        case exportUser, eraseUser
        case deadLetters, dropDeadLetters, retryDeadLetters
        case health, openAPI, command
        case nodes, topTopics, sessions, slowSessions, talkers, closeSession
        case outbox, workers, couriers, webhooks
        case trace, why
        case openTap, readTap, endTap
    }

    /// The callers that a route is for.
    public enum Callers: Equatable, Sendable {
        /// Everybody; credentials are not checked.
        case everybody
        /// Programs on the gateway's own machine; credentials are not checked.
        case machine
        /// Everybody; given credentials must be valid, and the answer depends on them.
        case known
        /// Everybody whom the topic or the command admits; callers without a token only when the gateway accepts them.
        case admitted
        /// Callers with a token or an API key of their own, and those with a publishable key where anyone may publish.
        case named
        /// Services; callers without a token and users receive these sentences.
        case services(unauthorized: String, forbidden: String)
        /// Services, and the user whom the argument names.
        case owner(argument: String)
    }

    /// The extent of a route, which limits tokens and keys that are bound to topics.
    public enum Reach: Equatable, Sendable {
        /// More than one topic, so that no token or key bound to topics may use it.
        case everything
        /// No data that belongs to anybody.
        case nothing
        /// The topic that the argument names.
        case topic(argument: String)
        /// The topic that the query names.
        case topicOfQuery
        /// The topics of the messages in the body.
        case messages
        /// The home of the command.
        case command
    }

    /// The name.
    public let name: Name
    /// The method; a route of GET also answers HEAD.
    public let method: HTTPMethod
    /// The path.
    public let path: RoutePath
    /// The callers that may use it.
    public let callers: Callers
    /// The use that an API key must allow; `nil` when the command decides, or any key is enough.
    public let use: CallerUse?
    /// The extent of the route.
    public let reach: Reach

    init(
        _ name: Name, _ method: HTTPMethod, _ path: StaticString, _ callers: Callers, _ use: CallerUse? = nil,
        _ reach: Reach = .nothing
    ) {
        self.name = name
        self.method = method
        self.path = RoutePath(path)
        self.callers = callers
        self.use = use
        self.reach = reach
    }

    /// Whether the credentials of a request are checked.
    public var asksForCredentials: Bool { callers != .everybody && callers != .machine }

    /// Whether the route belongs to operations, which may have a listener of their own.
    public var isOfOperations: Bool { name == .livez || name == .readyz || name == .metrics }

    /// Whether its refusals have the form that Supabase's clients read.
    public var isRealtime: Bool { name == .realtimeBroadcast || name == .realtimeBroadcastOne }
}
