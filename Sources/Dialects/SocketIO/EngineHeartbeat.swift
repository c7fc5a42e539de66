/// Engine.IO's heartbeat: the server sends pings, the client answers; pure.
///
/// The gateway sends a ping one interval after the connection began and after each answer. A client that does not
/// answer in time counts as gone, regardless of other messages.
struct EngineHeartbeat: Equatable, Sendable {
    /// The action that is due.
    enum Due: Equatable {
        /// Nothing yet.
        case nothing
        /// A ping is to be sent.
        case ping
        /// The client did not answer.
        case gone
    }

    private let intervalMs: Int
    private let timeoutMs: Int
    private var asked = false
    /// The time of the next action, monotonic milliseconds.
    private(set) var deadlineMs = Int.max

    init(intervalMs: Int, timeoutMs: Int) {
        self.intervalMs = intervalMs
        self.timeoutMs = timeoutMs
    }

    /// The connection began, or the client answered.
    mutating func lives(nowMs: Int) {
        asked = false
        deadlineMs = nowMs + intervalMs
    }

    /// The action that is due now.
    mutating func due(nowMs: Int) -> Due {
        guard nowMs >= deadlineMs else { return .nothing }
        if asked { return .gone }
        asked = true
        deadlineMs = nowMs + timeoutMs
        return .ping
    }
}
