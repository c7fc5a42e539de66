/// Why something did not come about.
public struct SwitchboardError: Error, Sendable, Hashable {
    /// The kinds of failures.
    public enum Code: Sendable, Hashable {
        /// The gateway or a script said so, e.g. `forbidden`, `conflict`, `not_present`.
        case server(String)
        /// No answer came in its time. It may have happened when it had been sent.
        case timeout
        /// The caller's task was cancelled. It may have happened when it had been sent.
        case cancelled
        /// The client was stopped, or its user changed.
        case stopped
        /// There is no connection, and the caller did not want to wait.
        case offline
        /// It was kept, and not sent before it expired. Nothing has happened.
        case expired
        /// It was sent, no answer came, and sending it again might do it twice.
        ///
        /// Or the storage failed and may still have it, so that it is sent after a restart.
        case uncertain
        /// JSON and the app's type do not fit.
        case undecodable
        /// The gateway takes no token that there is.
        case unauthorized
        /// Too much waits, or is too big.
        case tooLarge
        /// The storage of the outbox failed; the call was not sent, and is not sent later.
        case storage
    }

    /// What kind of failure.
    public var code: Code
    /// What it was, for a log.
    public var message: String

    /// An error of the client's own.
    init(_ code: Code, _ message: String = "") {
        self.code = code
        self.message = message
    }

    /// The gateway's `error`.
    init(server data: JSONValue) {
        self.init(.server(data["code"]?.string ?? "internal"), data["message"]?.string ?? "")
    }
}
