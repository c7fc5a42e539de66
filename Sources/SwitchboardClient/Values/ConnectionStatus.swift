/// The status of the connection.
public struct ConnectionStatus: Sendable, Hashable {
    /// The steps of a connection's life.
    public enum Phase: String, Sendable, Hashable {
        /// Not started, or stopped.
        case stopped
        /// Without a token and without topics and calls; the first topic or call connects.
        case idle
        /// The app's token source was asked.
        case asking
        /// The connection is being made.
        case connecting
        /// The token has been sent.
        case authenticating
        /// Topics and calls are sent and received.
        case open
        /// The gateway is shutting down; the client reconnects soon.
        case draining
        /// A pause before the next attempt.
        case waiting
        /// No token is accepted; `setToken` resumes.
        case unauthorized
        /// The app is frozen; `enteredForeground` resumes.
        case suspended

        /// The step in words for the person who uses the app, in English.
        public var title: String {
            switch self {
            case .stopped: "Not connected"
            case .idle: "Not connected yet"
            case .asking: "Signing in"
            case .connecting, .authenticating: "Connecting"
            case .open, .draining: "Connected"
            case .waiting: "No connection"
            case .unauthorized: "Signed out"
            case .suspended: "Paused"
            }
        }
    }

    /// The end of a connection.
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
    /// The user, once known from the token or the gateway.
    public var userID: String?
    /// Calls without an answer, kept ones included.
    public var pendingCalls = 0
    /// The end of the last connection.
    public var lastClose: Close?
    /// The reason why there is no connection; `nil` while there is one, and while none is wanted.
    public var reason: Reason?
    /// Whether the device reports a network route; shown here, without other effect.
    public var isNetworkUsable = true

    /// Whether topics and calls are sent and received.
    public var isReady: Bool { phase == .open || phase == .draining }
}
