import RedisLink

/// The schedule of searches through the whole key space for ids that no event reported.
///
/// One search is many small SCANs with pauses between them, so that Redis is never blocked for long. A search begins at
/// the earliest one interval after the last one began. A value of facts: no I/O.
struct Discovery {
    private let pauseMs: Int
    private let intervalMs: Int
    private var cursor = KeyPage.firstCursor
    private var nextMs = Int.min
    private var startedMs: Int?
    private var isAsking = false
    private var mustRestart = false
    /// Milliseconds that the last complete search took; `nil` before the first.
    private(set) var lastMs: Int?

    init(pauseMs: Int, intervalMs: Int) {
        self.pauseMs = pauseMs
        self.intervalMs = intervalMs
    }

    /// The time of the next step; `Int.max` while a reply is pending.
    var dueMs: Int { isAsking ? Int.max : nextMs }

    /// The next action.
    enum Step: Equatable {
        /// Nothing before ``dueMs``.
        case wait
        /// SCAN from this cursor; `isFirst` at the start of a search.
        case scan(cursor: [UInt8], isFirst: Bool)
    }

    /// The next step.
    mutating func next(nowMs: Int) -> Step {
        guard !isAsking else { return .wait }
        guard nextMs <= nowMs else { return .wait }
        isAsking = true
        guard startedMs == nil else { return .scan(cursor: cursor, isFirst: false) }
        startedMs = nowMs
        cursor = KeyPage.firstCursor
        return .scan(cursor: cursor, isFirst: true)
    }

    /// Takes the cursor of a reply; `true` when the search is complete.
    mutating func replied(cursor next: [UInt8], nowMs: Int) -> Bool {
        isAsking = false
        guard !mustRestart, let startedMs else {
            restart()
            return false
        }
        guard next == KeyPage.firstCursor else {
            cursor = next
            nextMs = nowMs + pauseMs
            return false
        }
        lastMs = nowMs - startedMs
        self.startedMs = nil
        nextMs = max(startedMs + intervalMs, nowMs + pauseMs)
        return true
    }

    /// A SCAN failed: the search begins again after the interval.
    mutating func failed(nowMs: Int) {
        isAsking = false
        mustRestart = false
        startedMs = nil
        nextMs = nowMs + intervalMs
    }

    /// Begins a new search at once: events may have been missed.
    mutating func restart() {
        mustRestart = isAsking
        startedMs = nil
        nextMs = Int.min
    }
}
