public import Calls
import Commands
import Core
import Dialects
public import EventLogs
public import Fleet
import HTTPCodec
public import Operations
import Reactors
public import Rights
import Service
import Topics
public import Transports

/// The HTTP interface: dispatches each request to its route.
///
/// Thread: the shard's.
public final class Router {
    /// The rooms below the routes.
    public struct Services {
        /// Runs commands.
        public let commands: CommandService
        /// Publishes events and reads logs.
        public let topics: EventLog
        /// Decides which topics a caller may read or publish on.
        public let access: AccessPolicy
        /// Presence and counts of topics.
        public let reading: TopicReading
        /// Changes members and revokes tokens.
        public let members: any MembershipWriter
        /// Deliveries that were given up.
        public let deadLetters: DeadLetters
        /// The budgets that exports and erasures are charged to.
        public let budgets: Budgets
        /// The page of metrics, and the figures of health.
        public let metrics: Metrics
        /// The OpenAPI documents.
        public let documents: OpenAPIDocuments
        /// The polling sessions.
        public let polling: PollingServer
        /// Questions over all nodes.
        public let fleet: FleetService
        /// The work that waits for workers and couriers.
        public let queues: QueueReader
        /// The routes beside the gateway's own; `nil` where there are none.
        public let extra: (any ExtraRoutes)?

        /// The rooms of one shard.
        public init(
            commands: CommandService, topics: EventLog, access: AccessPolicy, reading: TopicReading,
            members: any MembershipWriter, deadLetters: DeadLetters, budgets: Budgets, metrics: Metrics,
            documents: OpenAPIDocuments, polling: PollingServer, fleet: FleetService, queues: QueueReader,
            extra: (any ExtraRoutes)?
        ) {
            self.commands = commands
            self.topics = topics
            self.access = access
            self.reading = reading
            self.members = members
            self.deadLetters = deadLetters
            self.budgets = budgets
            self.metrics = metrics
            self.documents = documents
            self.polling = polling
            self.fleet = fleet
            self.queues = queues
            self.extra = extra
        }
    }

    private let context: HTTPContext
    private let operators: OperatorLog
    private let inspector: InspectorRoute
    private let broadcast: BroadcastRoute
    private let supabase: SupabaseRoute
    private let topics: TopicRoute
    private let operations: OperationsRoute
    private let commands: CommandRoute
    private let rights: RightsRoute
    private let userData: UserDataRoute
    private let deadLetters: DeadLetterRoute
    private let health: HealthRoute
    private let fleet: FleetRoute
    private let traces: TraceRoute
    private let description: OpenAPIRoute
    private let polling: PollingRoute
    private let extra: (any ExtraRoutes)?
    let pages: PageCheck
    let crossOrigin: CrossOrigin
    let opener: SessionOpener

    /// A router over these rooms.
    public init(_ context: HTTPContext, _ services: Services) {
        self.context = context
        pages = PageCheck(context: context)
        operators = OperatorLog(context: context)
        inspector = InspectorRoute(pages: pages)
        crossOrigin = CrossOrigin(origins: context.gate.origins)
        opener = SessionOpener(context, services.polling)
        broadcast = BroadcastRoute(context: context, topics: services.topics, access: services.access)
        supabase = SupabaseRoute(context: context, topics: services.topics, access: services.access)
        topics = TopicRoute(
            context: context, topics: services.topics, access: services.access, reading: services.reading)
        operations = OperationsRoute(context: context, metrics: services.metrics, pages: pages)
        commands = CommandRoute(context: context, commands: services.commands)
        rights = RightsRoute(context: context, access: services.access, members: services.members)
        userData = UserDataRoute(
            context: context, commands: services.commands, budgets: services.budgets, fleet: services.fleet)
        deadLetters = DeadLetterRoute(context: context, deadLetters: services.deadLetters)
        health = HealthRoute(
            health: context.health, figures: services.metrics.figures, nodeName: services.reading.nodeName)
        fleet = FleetRoute(
            context: context, fleet: services.fleet, queues: services.queues, figures: services.metrics.figures,
            reads: SharedReads(lifeMs: FleetService.answerLifeMs) { [clock = context.clock] in clock.nowMs })
        traces = TraceRoute(
            context: context, topics: services.topics, access: services.access, reading: services.reading,
            fleet: services.fleet)
        description = OpenAPIRoute(context, services.documents)
        polling = PollingRoute(context: context, polling: services.polling, opener: opener)
        extra = services.extra
    }

    // MARK: Request heads

    /// The command that a request calls, and the command's own route when the request has its path.
    typealias Called = (command: CommandDescriptor, route: HTTPRoute?)

    /// The command that a request calls, by its name or by a route of its own; `nil` for any other request.
    func called(_ match: GatewayRoutes.Match, _ segments: [String], _ method: HTTPMethod) -> Called? {
        switch match.judged?.name {
        case .command: commands.command(segments[2]).map { ($0, nil) }
        case nil: commands.route(method, segments)
        default: nil
        }
    }

    /// The place of a request among the counters of answers, where it was refused by its head; `nil`: it had none.
    func place(_ head: HTTPRequestHead?) -> Int {
        guard let head, let segments = head.pathSegments?.map({ String(decoding: $0, as: UTF8.self) }) else {
            return AnsweredRoutes.Other.unknown.rawValue
        }
        if head.upgrade != nil { return AnsweredRoutes.Other.webSocket.rawValue }
        if context.dialects.entry(head.path, .packets) != nil { return AnsweredRoutes.Other.polling.rawValue }
        if head.method == .get, context.dialects.entry(head, .eventStream) != nil {
            return AnsweredRoutes.Other.eventStream.rawValue
        }
        let match = GatewayRoutes.match(head.method, segments)
        return context.answers.routes.place(match, called(match, segments, head.method)?.route)
    }

    /// The refusal of a request, in the form for the path's clients.
    func refused(_ refusal: Refusal, _ head: HTTPRequestHead, keepAlive: Bool) -> HTTPResponse {
        let segments = head.pathSegments?.map { String(decoding: $0, as: UTF8.self) } ?? []
        // The response to a malformed request has the same form everywhere.
        let route = GatewayRoutes.match(head.method, segments).judged
        guard refusal.code != .badRequest, route?.isRealtime == true else {
            return .refusal(refusal, keepAlive: keepAlive)
        }
        return SupabaseAnswer.refused(refusal, keepAlive: keepAlive)
    }

    /// The pack's form of refusals of a request; `nil`: the usual form.
    func rewriter(_ head: HTTPRequestHead) -> ErrorRewriter? {
        let errors = context.library.routeErrors
        guard !errors.isEmpty, let segments = head.pathSegments?.map({ String(decoding: $0, as: UTF8.self) }),
            let own = errors.owner(of: segments)
        else { return nil }
        return ErrorRewriter(errors: own, head: head, log: context.log)
    }

    // MARK: Answers

    /// Answers a request, now or later.
    func route(_ request: HTTPRequest, role: ListenerRole, _ respond: @escaping Respond) {
        if case .front = role, CrossOrigin.isPreflight(request.head) {
            return respond(crossOrigin.preflight(request.head))
        }
        let respond = operators.noting(request, onOperations: role.isOperations, respond)
        switch role {
        case .operations:
            if operations.answers(request, isPrivate: true, respond) { return }
            if inspector.answers(request, respond) { return }
            if answers(request, servesOperations: false, respond) { return }
        case .front(let servesOperations):
            if polling.owns(request.head.path) { return polling.answer(request, respond) }
            if context.options.servesInspector, inspector.answers(request, respond) { return }
            if answers(request, servesOperations: servesOperations, respond) { return }
            if context.dialects.opensWebSocket(request.head) {
                return respond(
                    .refusal(
                        Refusal(.badRequest, "this path opens a WebSocket; send an upgrade"), status: 426,
                        keepAlive: true))
            }
            if let extra {
                if extra.isOwnPagesOnly(request),
                    let refusal = pages.refusalOfForeign(request.head, request.origin)
                {
                    return respond(.refusal(refusal, keepAlive: true))
                }
                if extra.answers(request, respond) { return }
            }
        }
        respond(.refusal(Refusal(.notFound, "there is no such path"), keepAlive: true))
    }

    /// Answers a request to a route of the gateway's own or of a command; false where this listener has none.
    private func answers(_ request: HTTPRequest, servesOperations: Bool, _ respond: @escaping Respond) -> Bool {
        switch request.match {
        case .route(let route): return answer(route, request, servesOperations: servesOperations, respond)
        case .otherMethods(let methods, let route):
            guard !route.isOfOperations || servesOperations else { return false }
            respond(.methodNotAllowed(methods, keepAlive: true))
            return true
        case .none: return commands.answers(request, respond)
        }
    }

    /// Answers a request to one of the gateway's own routes; false where this listener does not serve it.
    private func answer(
        _ route: GatewayRoute, _ request: HTTPRequest, servesOperations: Bool, _ respond: @escaping Respond
    ) -> Bool {
        switch route.name {
        case .livez, .readyz, .metrics:
            guard servesOperations || operations.isOfInspector(request) else { return false }
            return operations.answers(request, isPrivate: false, respond)
        case .broadcast: broadcast.answer(request, respond)
        case .realtimeBroadcast: supabase.answer(request, isBatch: true, respond)
        case .realtimeBroadcastOne: supabase.answer(request, isBatch: false, respond)
        case .topic: topics.answer(request, .summary, respond)
        case .events: topics.answer(request, .events, respond)
        case .presence: topics.answer(request, .presence, respond)
        case .audit: topics.answer(request, .audit, respond)
        case .trace: traces.trace(request, respond)
        case .why: traces.why(request, respond)
        case .addMember, .removeMember: rights.changeMember(request, respond)
        case .revoke: rights.revoke(request, respond)
        case .exportUser, .eraseUser: userData.answer(request, respond)
        case .deadLetters, .dropDeadLetters, .retryDeadLetters: deadLetters.answer(request, respond)
        case .health: health.answer(respond)
        case .nodes: fleet.ask(.nodes, as: "nodes", request, respond)
        case .topTopics: fleet.ask(.topics, as: "topics", request, respond)
        case .sessions: fleet.ask(.sessions, as: "sessions", request, respond)
        case .slowSessions: fleet.ask(.slow, as: "sessions", request, respond)
        case .talkers: fleet.ask(.talkers, as: "talkers", request, respond)
        case .closeSession: fleet.close(request, respond)
        case .openTap: fleet.tap(.tap, request, respond)
        case .readTap: fleet.tap(.wire, request, respond)
        case .endTap: fleet.tap(.untap, request, respond)
        case .outbox: fleet.read(.outbox, request, respond)
        case .workers: fleet.read(.workers, request, respond)
        case .couriers: fleet.read(.couriers, request, respond)
        case .webhooks: fleet.read(.webhooks, request, respond)
        case .openAPI: description.answer(request, respond)
        case .command: commands.answer(request, name: request.segments[2], respond)
        }
        return true
    }
}
