/// Whether something outside is tried at all: after some failures in a row it is left alone for a while, then one request
/// goes first.
///
/// Pure; times are monotonic milliseconds.
struct Breaker: Sendable, Equatable {
    private let failuresMax: Int
    private let pauseMinMs: Int
    private let pauseMaxMs: Int
    private var failures = 0
    private var isProbing = false
    /// Before this time nothing is sent; `Int.min` when nothing stands against it.
    private(set) var holdMs = Int.min

    /// Opens after `failuresMax` failures in a row, for the shortest pause, then twice as long up to the longest.
    init(failuresMax: Int = 5, pauseMinMs: Int, pauseMaxMs: Int) {
        self.failuresMax = failuresMax
        self.pauseMinMs = pauseMinMs
        self.pauseMaxMs = max(pauseMinMs, pauseMaxMs)
    }

    /// Whether so much failed that only single requests go.
    var isOpen: Bool { failures >= failuresMax }

    /// Whether a request would go now.
    func wouldAdmit(nowMs: Int) -> Bool { holdMs <= nowMs && !(isOpen && isProbing) }

    /// Whether a request may go now; then ``succeeded()``, ``failed(nowMs:retryAfterMs:)`` or ``abandoned()`` follows.
    mutating func admits(nowMs: Int) -> Bool {
        guard wouldAdmit(nowMs: nowMs) else { return false }
        isProbing = isOpen
        return true
    }

    /// It works.
    mutating func succeeded() {
        failures = 0
        isProbing = false
        holdMs = Int.min
    }

    /// It does not work; `retryAfterMs` is how long it wishes to be left alone.
    mutating func failed(nowMs: Int, retryAfterMs: Int? = nil) {
        failures = min(failures + 1, failuresMax + 32)
        isProbing = false
        if isOpen {
            let doublings = min(failures - failuresMax, 20)
            holdMs = max(holdMs, nowMs + min(pauseMinMs << doublings, pauseMaxMs))
        }
        if let retryAfterMs { holdMs = max(holdMs, nowMs + retryAfterMs) }
    }

    /// What was admitted was not sent.
    mutating func abandoned() {
        isProbing = false
    }
}
