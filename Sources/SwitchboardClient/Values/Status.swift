/// How the connection stands.
public struct Status: Sendable, Hashable {
    /// The steps of a connection's life.
    public enum Phase: String, Sendable, Hashable {
        /// Not started, or stopped.
        case stopped
        /// Without a token and without anything to do; the first topic or call connects.
        case idle
        /// The app's token source is asked.
        case asking
        /// The connection is being made.
        case connecting
        /// The token has been sent.
        case authenticating
        /// Topics and calls flow.
        case open
        /// The gateway ends; the client moves soon.
        case draining
        /// A pause before the next attempt.
        case waiting
        /// No token is accepted; `setToken` goes on.
        case unauthorized
        /// The app said that it goes away; `enteredForeground` goes on.
        case suspended
    }

    /// How a connection ended.
    public struct Close: Sendable, Hashable {
        /// The close code; 0 for a connection that broke.
        public var code: Int
        /// The status of a refused upgrade.
        public var httpStatus: Int?
    }

    /// The step.
    public var phase = Phase.stopped
    /// Attempts since the connection was last stable.
    public var attempt = 0
    /// The user, once the gateway said so.
    public var userID: String?
    /// Calls without an answer, kept ones included.
    public var pendingCalls = 0
    /// How the last connection ended.
    public var lastClose: Close?
    /// Why there is no connection; `nil` while there is one, and when nobody wants one.
    public var reason: Reason?
    /// Whether a network seems to be there; shown, never obeyed.
    public var isNetworkUsable = true

    /// Whether topics and calls flow.
    public var isReady: Bool { phase == .open || phase == .draining }
}
