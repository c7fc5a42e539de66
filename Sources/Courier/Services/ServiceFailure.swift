/// The reason why an outside service gave no answer.
struct ServiceFailure: Error, Sendable, Equatable {
    /// One sentence without secrets, for the log and the dead letters.
    let reason: String
    /// The pause before a retry, milliseconds; `nil` when unknown.
    var retryAfterMs: Int?
    /// Whether a retry cannot help.
    var isFinal = false

    /// A failure that a retry cannot cure.
    static func final(_ reason: String) -> ServiceFailure { ServiceFailure(reason: reason, isFinal: true) }
}
