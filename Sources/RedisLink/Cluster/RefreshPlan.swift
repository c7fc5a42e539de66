/// The times at which a cluster is asked for its map: soon after a hint, otherwise at intervals.
///
/// One question is under way at a time, and at most one begins in `pauseMs`. A value without I/O: time is a parameter,
/// monotonic milliseconds.
public struct RefreshPlan: Equatable, Sendable {
    private let pauseMs: Int
    private let intervalMs: Int
    private var dueMs: Int
    private var askedMs: Int?
    private var isAsking = false
    private var wasHinted = false
    /// The node that the last hint named.
    private var preferred: ClusterAddress?

    /// Begins with a question that is due at once.
    public init(pauseMs: Int, intervalMs: Int, nowMs: Int) {
        self.pauseMs = pauseMs
        self.intervalMs = intervalMs
        dueMs = nowMs
    }

    /// The time of the next question; `Int.max` while an answer is awaited.
    public var nextMs: Int { isAsking ? Int.max : dueMs }

    /// Takes a hint that the map may be out of date; a hint while an answer is awaited leads to another question.
    public mutating func hint(_ address: ClusterAddress?, nowMs: Int) {
        preferred = address ?? preferred
        if isAsking {
            wasHinted = true
        } else {
            dueMs = min(dueMs, max(nowMs, (askedMs ?? nowMs - pauseMs) + pauseMs))
        }
    }

    /// The order in which a round asks the known nodes; the one that the last hint named is first.
    ///
    /// An unknown node is never asked, even if a hint names it, because the question carries our password.
    public func round(_ known: [ClusterAddress]) -> [ClusterAddress] {
        var order = preferred.map { known.contains($0) ? [$0] : [] } ?? []
        for address in known where !order.contains(address) { order.append(address) }
        return order
    }

    /// Records the beginning of a question.
    public mutating func began(nowMs: Int) {
        isAsking = true
        wasHinted = false
        askedMs = nowMs
        preferred = nil
    }

    /// Records the end of a question; `isSettled` when its map was accepted and complete, `jitter` is 0..<1.
    ///
    /// Otherwise the next question follows soon.
    public mutating func ended(isSettled: Bool, nowMs: Int, jitter: Double) {
        isAsking = false
        let soonMs = (askedMs ?? nowMs) + pauseMs
        guard isSettled, !wasHinted else { return dueMs = max(nowMs, soonMs) }
        dueMs = nowMs + intervalMs - Int(Double(intervalMs) / 4 * min(max(jitter, 0), 1))
    }
}
