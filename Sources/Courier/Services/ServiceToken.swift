/// The token for requests to a service: fetched once, renewed before it ends.
///
/// Pure; times are monotonic milliseconds.
struct ServiceToken: Sendable, Equatable {
    /// The action before a request.
    enum Step: Equatable {
        /// Send the request with this token; `renew`: fetch another one meanwhile.
        case use(String, renew: Bool)
        /// Fetch a token, then send the request.
        case fetch
        /// Another request is fetching a token: wait for it.
        case wait
    }

    private var text: String?
    private var renewMs = Int.min
    private var endMs = Int.min
    private var isFetching = false

    /// The action now; after `fetch` and `renew`, call ``fetched(_:seconds:nowMs:)`` or ``failed(nowMs:)``.
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

    /// Takes a token that is valid for so many seconds.
    mutating func fetched(_ text: String, seconds: Int, nowMs: Int) {
        let lifeMs = min(max(seconds, 2), 86_400) * 1_000
        self.text = text
        isFetching = false
        renewMs = nowMs + lifeMs / 6 * 5
        // A request takes a while to arrive.
        endMs = nowMs + lifeMs - min(lifeMs / 12, 30_000)
    }

    /// No token was fetched; an old one is used as long as it is valid.
    mutating func failed(nowMs: Int) {
        isFetching = false
        renewMs = nowMs + 10_000
    }

    /// The service refuses a token; a newer one that was fetched meanwhile is kept.
    mutating func refused(_ text: String) {
        if self.text == text { self.text = nil }
    }
}
