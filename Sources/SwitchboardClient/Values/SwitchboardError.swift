/// The failure of a call, a topic or a value.
public struct SwitchboardError: Error, Sendable, Hashable {
    /// The kinds of failures.
    public enum Code: Sendable, Hashable {
        /// An error code of the gateway or a script, e.g. `forbidden`, `conflict`, `not_present`.
        case server(String)
        /// No answer was received in time. A call that was sent may have been performed.
        case timeout
        /// The caller's task was cancelled. A call that was sent may have been performed.
        case cancelled
        /// The client was stopped, or its user changed.
        case stopped
        /// There is no connection, and the caller did not want to wait.
        case offline
        /// The call was kept, and not sent before it expired. It was not performed.
        case expired
        /// The call was sent, no answer was received, and another attempt might perform it twice.
        ///
        /// Or the storage failed and may still contain the call, so that a restart sends it.
        case uncertain
        /// The JSON does not fit the app's type.
        case undecodable
        /// The gateway refuses every available token.
        case unauthorized
        /// Too many calls wait, or the message is too long.
        case tooLarge
        /// The storage of the outbox failed; the call was not sent, and is not sent later.
        case storage
    }

    /// The kind of failure.
    public var code: Code
    /// The description, for a log.
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
