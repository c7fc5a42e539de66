/// Why a service outside gave no answer.
struct ServiceFailure: Error, Sendable, Equatable {
    /// One sentence without secrets, for the log and the dead letters.
    let reason: String
    /// When to come back, milliseconds; `nil` where nothing is known.
    var retryAfterMs: Int?
    /// Whether no repetition mends it.
    var isFinal = false

    /// What no repetition mends.
    static func final(_ reason: String) -> ServiceFailure { ServiceFailure(reason: reason, isFinal: true) }
}
