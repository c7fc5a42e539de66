/// Engine.IO's signs of life: the server asks, the client answers; pure.
///
/// The gateway asks one interval after the connection began and after each answer. A client that does not answer in
/// time is gone, whatever else it sends.
struct EngineHeartbeat: Equatable, Sendable {
    /// What is due.
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
    /// When the next thing is due, monotonic milliseconds.
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

    /// Tells what is due now.
    mutating func due(nowMs: Int) -> Due {
        guard nowMs >= deadlineMs else { return .nothing }
        if asked { return .gone }
        asked = true
        deadlineMs = nowMs + timeoutMs
        return .ping
    }
}
