/// When a cluster is asked for its map: at a hint soon, otherwise now and then; one question at a time, at most one in
/// `pauseMs`.
///
/// A value of facts: time is given, monotonic milliseconds.
public struct RefreshPlan: Equatable, Sendable {
    private let pauseMs: Int
    private let intervalMs: Int
    private var dueMs: Int
    private var askedMs: Int?
    private var isAsking = false
    private var wasHinted = false
    /// Who gave the last hint.
    private var preferred: ClusterAddress?

    /// The first question is due at once.
    public init(pauseMs: Int, intervalMs: Int, nowMs: Int) {
        self.pauseMs = pauseMs
        self.intervalMs = intervalMs
        dueMs = nowMs
    }

    /// When to ask next; `Int.max` while an answer is awaited.
    public var nextMs: Int { isAsking ? Int.max : dueMs }

    /// Something says that the map may be out of date; a hint while an answer is awaited leads to another question.
    public mutating func hint(_ address: ClusterAddress?, nowMs: Int) {
        preferred = address ?? preferred
        if isAsking {
            wasHinted = true
        } else {
            dueMs = min(dueMs, max(nowMs, (askedMs ?? nowMs - pauseMs) + pauseMs))
        }
    }

    /// Whom to ask in this round, one after the other: those that are known, who gave the last hint before the others.
    ///
    /// A stranger is never asked, whoever names it: the question goes with our password.
    public func round(_ known: [ClusterAddress]) -> [ClusterAddress] {
        var order = preferred.map { known.contains($0) ? [$0] : [] } ?? []
        for address in known where !order.contains(address) { order.append(address) }
        return order
    }

    /// A question is asked.
    public mutating func began(nowMs: Int) {
        isAsking = true
        wasHinted = false
        askedMs = nowMs
        preferred = nil
    }

    /// It was answered by a map that was taken, or not; `jitter` is 0..<1.
    ///
    /// Who asked in vain, or took a map that does not serve yet, asks again soon.
    public mutating func ended(isSettled: Bool, nowMs: Int, jitter: Double) {
        isAsking = false
        let soonMs = (askedMs ?? nowMs) + pauseMs
        guard isSettled, !wasHinted else { return dueMs = max(nowMs, soonMs) }
        dueMs = nowMs + intervalMs - Int(Double(intervalMs) / 4 * min(max(jitter, 0), 1))
    }
}
