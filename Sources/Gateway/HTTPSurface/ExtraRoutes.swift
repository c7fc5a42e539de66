import Calls
import EventLogs
import HTTPCodec
import Reactors

/// Routes beside the gateway's own, such as those of `switchboard dev`.
///
/// Thread: the shard's.
protocol ExtraRoutes {
    /// Whether only pages of the gateway itself may ask for the path.
    func isOwnPagesOnly(_ request: HTTPRequest) -> Bool

    /// Answers a request, now or later; false for a path that is not one of these.
    func answers(_ request: HTTPRequest, _ respond: @escaping Respond) -> Bool
}

/// The rooms of a shard from which its extra routes are made.
struct ExtraRouteParts {
    let context: HTTPContext
    let commands: CommandService
    let topics: EventLog
    let reactor: Reactor
}

/// Makes the extra routes of a shard, on its thread.
typealias ExtraRoutesMaker = @Sendable (ExtraRouteParts) -> any ExtraRoutes
