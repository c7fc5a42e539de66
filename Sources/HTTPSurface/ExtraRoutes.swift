public import Calls
public import EventLogs
import HTTPCodec
public import Reactors

/// Routes beside the gateway's own, such as those of `switchboard dev`.
///
/// Thread: the shard's.
public protocol ExtraRoutes {
    /// Whether only pages of the gateway itself may ask for the path.
    func isOwnPagesOnly(_ request: HTTPRequest) -> Bool

    /// Answers a request, now or later; false for a path that is not one of these.
    func answers(_ request: HTTPRequest, _ respond: @escaping Respond) -> Bool
}

/// The rooms of a shard from which its extra routes are made.
public struct ExtraRouteParts {
    /// Limits, rates and clock of the routes.
    public let context: HTTPContext
    /// Runs commands.
    public let commands: CommandService
    /// Publishes events.
    public let topics: EventLog
    /// The loop of the shard, for timers.
    public let reactor: Reactor

    /// The rooms of the shard on which the routes will be served.
    public init(context: HTTPContext, commands: CommandService, topics: EventLog, reactor: Reactor) {
        self.context = context
        self.commands = commands
        self.topics = topics
        self.reactor = reactor
    }
}

/// Makes the extra routes of a shard, on its thread.
public typealias ExtraRoutesMaker = @Sendable (ExtraRouteParts) -> any ExtraRoutes
