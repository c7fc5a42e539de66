/// The token that a service is asked with: fetched once, renewed before it ends.
///
/// Pure; times are monotonic milliseconds.
struct ServiceToken: Sendable, Equatable {
    /// What to do before a request.
    enum Step: Equatable {
        /// Go with this token; `renew` says that another is to be fetched meanwhile.
        case use(String, renew: Bool)
        /// Fetch one, then go.
        case fetch
        /// Somebody fetches one: go when it is there.
        case wait
    }

    private var text: String?
    private var renewMs = Int.min
    private var endMs = Int.min
    private var isFetching = false

    /// What to do now; after `fetch` and `renew` comes ``fetched(_:seconds:nowMs:)`` or ``failed(nowMs:)``.
    mutating func next(nowMs: Int) -> Step {
        if let text, endMs > nowMs {
            let renews = renewMs <= nowMs && !isFetching
            if renews { isFetching = true }
            return .use(text, renew: renews)
        }
        if isFetching { return .wait }
        isFetching = true
        return .fetch
    }

    /// A token came that is good for so many seconds.
    mutating func fetched(_ text: String, seconds: Int, nowMs: Int) {
        let lifeMs = min(max(seconds, 2), 86_400) * 1_000
        self.text = text
        isFetching = false
        renewMs = nowMs + lifeMs / 6 * 5
        // A request takes a while to arrive.
        endMs = nowMs + lifeMs - min(lifeMs / 12, 30_000)
    }

    /// None came; an old one is used as long as it is good.
    mutating func failed(nowMs: Int) {
        isFetching = false
        renewMs = nowMs + 10_000
    }

    /// The service refuses a token; another one that came meanwhile is kept.
    mutating func refused(_ text: String) {
        if self.text == text { self.text = nil }
    }
}
