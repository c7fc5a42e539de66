/// Decides whether to try an outside receiver or service: after failures in a row it pauses, then sends one request
/// first.
///
/// Pure; times are monotonic milliseconds.
struct Breaker: Sendable, Equatable {
    private let failuresMax: Int
    private let pauseMinMs: Int
    private let pauseMaxMs: Int
    private var failures = 0
    private var isProbing = false
    /// The time before which nothing is sent; `Int.min` when there is no pause.
    private(set) var holdMs = Int.min

    /// Opens after `failuresMax` failures in a row, for the shortest pause, then twice as long up to the longest.
    init(failuresMax: Int = 5, pauseMinMs: Int, pauseMaxMs: Int) {
        self.failuresMax = failuresMax
        self.pauseMinMs = pauseMinMs
        self.pauseMaxMs = max(pauseMinMs, pauseMaxMs)
    }

    /// Whether so many requests failed that only single ones are sent.
    var isOpen: Bool { failures >= failuresMax }

    /// Whether a request would be admitted now.
    func wouldAdmit(nowMs: Int) -> Bool { holdMs <= nowMs && !(isOpen && isProbing) }

    /// Whether a request may be sent now; then ``succeeded()``, ``failed(nowMs:retryAfterMs:)`` or ``abandoned()``
    /// follows.
    mutating func admits(nowMs: Int) -> Bool {
        guard wouldAdmit(nowMs: nowMs) else { return false }
        isProbing = isOpen
        return true
    }

    /// A request succeeded.
    mutating func succeeded() {
        failures = 0
        isProbing = false
        holdMs = Int.min
    }

    /// A request failed; `retryAfterMs` is the pause that the other side asks for.
    mutating func failed(nowMs: Int, retryAfterMs: Int? = nil) {
        failures = min(failures + 1, failuresMax + 32)
        isProbing = false
        if isOpen {
            let doublings = min(failures - failuresMax, 20)
            holdMs = max(holdMs, nowMs + min(pauseMinMs << doublings, pauseMaxMs))
        }
        if let retryAfterMs { holdMs = max(holdMs, nowMs + retryAfterMs) }
    }

    /// The admitted request was not sent.
    mutating func abandoned() {
        isProbing = false
    }
}
