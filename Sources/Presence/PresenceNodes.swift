/// The gateways that live, by their last heartbeat in Redis.
///
/// A node whose last heartbeat is `silenceMs` old is gone. A node judges so only when it has been in touch with Redis
/// for as long itself, since after an outage no heartbeat is recent. Pure; monotonic milliseconds.
struct PresenceNodes {
    private let silenceMs: Int
    /// When each node was last known to live.
    private var aliveMs: [[UInt8]: Int] = [:]
    /// The start of a period of answers without a long pause; `nil` before the first answer.
    private var sinceMs: Int?
    private var answeredMs: Int?

    init(silenceMs: Int) {
        self.silenceMs = silenceMs
    }

    /// Takes an answer, to a question that was also this node's own heartbeat.
    mutating func answered(_ ages: [(node: [UInt8], ageMs: Int)], nowMs: Int) {
        if let answeredMs, nowMs - answeredMs < silenceMs {
        } else {
            sinceMs = nowMs
        }
        answeredMs = nowMs
        var alive: [[UInt8]: Int] = [:]
        for (node, ageMs) in ages { alive[node] = max(nowMs - ageMs, aliveMs[node] ?? Int.min) }
        // A node heard from lately may have had no heartbeat yet when the answer was made.
        for (node, heardMs) in aliveMs where alive[node] == nil && nowMs - heardMs < silenceMs { alive[node] = heardMs }
        aliveMs = alive
    }

    /// Redis could not be asked.
    mutating func failed() {
        answeredMs = nil
    }

    /// A node has just made a change.
    mutating func heard(_ node: [UInt8], nowMs: Int) {
        aliveMs[node] = nowMs
    }

    /// Whether this node's heartbeat is recent enough that others do not drop its entries.
    func maySpeak(nowMs: Int) -> Bool {
        answeredMs.map { nowMs - $0 < silenceMs / 2 } ?? false
    }

    /// Whether a node is known to live.
    func isAlive(_ node: [UInt8], nowMs: Int) -> Bool {
        aliveMs[node].map { nowMs - $0 < silenceMs } ?? false
    }

    /// Whether a node is gone.
    ///
    /// A node without any record counts as gone, so ask again after its name has appeared.
    func isGone(_ node: [UInt8], nowMs: Int) -> Bool {
        guard let sinceMs, answeredMs != nil, nowMs - sinceMs >= silenceMs else { return false }
        return !isAlive(node, nowMs: nowMs)
    }
}
