/// The reason why an outside service has no answer; the raw value is the metric label and the log field.
public enum WebFailure: String, Error, Sendable, CaseIterable {
    /// Too many other requests waited; it was not sent.
    case full
    /// A text of the request has bytes that are not allowed there; it was not sent.
    case unsound
    /// The name is unknown, no server listens there, or connecting took too long; it was not sent.
    case unreachable
    /// The peer has no valid certificate for the name; it was not sent.
    case untrusted
    /// The answer was incomplete at the deadline; the service may have performed the request.
    case late
    /// The connection ended before the answer; the service may have performed the request.
    case cut
    /// The answer has more bytes than allowed; the service has most likely performed the request.
    case tooLarge = "too_large"
    /// The engine was stopped; the service may have performed the request.
    case stopped
}
