/// Why there is no answer of a service outside; the raw value is the metric label and the log field.
public enum WebFailure: String, Error, Sendable, CaseIterable {
    /// The request waited for too many others; it was not sent.
    case full
    /// Its text would break out of its place; it was not sent.
    case unsound
    /// The name is not known, nobody listens there, or connecting took too long; it was not sent.
    case unreachable
    /// The peer has no certificate that is good for the name; it was not sent.
    case untrusted
    /// There was no whole answer in time; the service may have done it.
    case late
    /// The connection ended before the answer; the service may have done it.
    case cut
    /// The answer has more bytes than are taken; the service has most likely done it.
    case tooLarge = "too_large"
    /// The engine was stopped; the service may have done it.
    case stopped
}
