/// Which gateways live, by what they last said in Redis.
///
/// One whose last word is `silenceMs` old is gone. That is judged only by who has itself been in touch with Redis for as long:
/// after an outage nobody has spoken lately. Pure; monotonic milliseconds.
struct PresenceNodes {
    private let silenceMs: Int
    /// When each node was last alive, as far as is known here.
    private var aliveMs: [[UInt8]: Int] = [:]
    /// Since when questions have been answered without a long pause; `nil` before the first answer.
    private var sinceMs: Int?
    private var answeredMs: Int?

    init(silenceMs: Int) {
        self.silenceMs = silenceMs
    }

    /// A question was answered, by which this node has also said that it lives.
    mutating func answered(_ ages: [(node: [UInt8], ageMs: Int)], nowMs: Int) {
        if let answeredMs, nowMs - answeredMs < silenceMs {
        } else {
            sinceMs = nowMs
        }
        answeredMs = nowMs
        var alive: [[UInt8]: Int] = [:]
        for (node, ageMs) in ages { alive[node] = max(nowMs - ageMs, aliveMs[node] ?? Int.min) }
        // One that was heard lately, and had not spoken yet when the question was answered.
        for (node, heardMs) in aliveMs where alive[node] == nil && nowMs - heardMs < silenceMs { alive[node] = heardMs }
        aliveMs = alive
    }

    /// Redis cannot be asked.
    mutating func failed() {
        answeredMs = nil
    }

    /// A node has just changed something.
    mutating func heard(_ node: [UInt8], nowMs: Int) {
        aliveMs[node] = nowMs
    }

    /// Whether this node has said lately enough that it lives, so that what it writes is not taken for a dead one's.
    func maySpeak(nowMs: Int) -> Bool {
        answeredMs.map { nowMs - $0 < silenceMs / 2 } ?? false
    }

    /// Whether a node is known to live.
    func isAlive(_ node: [UInt8], nowMs: Int) -> Bool {
        aliveMs[node].map { nowMs - $0 < silenceMs } ?? false
    }

    /// Whether a node is gone; one of which nothing is known is, so ask again after its name has come up.
    func isGone(_ node: [UInt8], nowMs: Int) -> Bool {
        guard let sinceMs, answeredMs != nil, nowMs - sinceMs >= silenceMs else { return false }
        return !isAlive(node, nowMs: nowMs)
    }
}
