/// The pings of one client: when the next is due, and whether the last has an answer.
///
/// A ping is due at the end of a slice of the interval. So the pings of many clients are due in one tick: for each of
/// them alone, waking the thread would cost more than the ping. Pure: times are monotonic milliseconds.
struct PingSchedule {
    /// The action that the time calls for.
    enum Step: Equatable {
        case nothing
        /// Send a ping.
        case ping
        /// The client has not answered in time.
        case silence
    }

    /// When ``step(nowMs:intervalMs:answerMs:)`` has something to do; `Int.max` for a client that is never pinged.
    private(set) var dueMs: Int
    private var lastInboundMs: Int
    /// Whether the last ping has no answer.
    private var isPinged = false

    /// Slices of an interval; a ping is late by one of them at most.
    static let slices = 256

    /// A client that has just connected and is silent for `intervalMs` before it is pinged.
    init(nowMs: Int, intervalMs: Int) {
        lastInboundMs = nowMs
        dueMs = PingSchedule.endOfSlice(nowMs + intervalMs, intervalMs)
    }

    /// No pings.
    static let none = PingSchedule()

    private init() {
        (lastInboundMs, dueMs) = (0, Int.max)
    }

    private static func endOfSlice(_ timeMs: Int, _ intervalMs: Int) -> Int {
        let sliceMs = max(intervalMs / slices, 1)
        return (timeMs + sliceMs - 1) / sliceMs * sliceMs
    }

    /// The client has sent something, which answers every ping; true when ``dueMs`` has changed.
    mutating func received(nowMs: Int, intervalMs: Int) -> Bool {
        lastInboundMs = nowMs
        guard isPinged else { return false }
        isPinged = false
        dueMs = PingSchedule.endOfSlice(nowMs + intervalMs, intervalMs)
        return true
    }

    /// Decides what is due; the client has `answerMs` for its answer to a ping.
    mutating func step(nowMs: Int, intervalMs: Int, answerMs: Int) -> Step {
        guard nowMs >= dueMs else { return .nothing }
        if isPinged { return .silence }
        // A client that has just sent something needs no ping.
        guard nowMs - lastInboundMs >= intervalMs else {
            dueMs = PingSchedule.endOfSlice(lastInboundMs + intervalMs, intervalMs)
            return .nothing
        }
        isPinged = true
        dueMs = nowMs + answerMs
        return .ping
    }

    /// Gives the client another `answerMs`.
    mutating func waits(nowMs: Int, answerMs: Int) {
        dueMs = nowMs + answerMs
    }
}
