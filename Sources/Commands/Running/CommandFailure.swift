public import Core

/// Why a command did nothing: what its caller is told.
public struct CommandFailure: Error, Equatable, Sendable {
    /// A code of the table or of the script's header.
    public let code: String
    /// A sentence for the developer of the client.
    public let message: String
    /// The HTTP status.
    public let status: Int
    /// Whether a refresh was turned away because another worker has a newer fencing token.
    public let isFenced: Bool
    /// Whether nothing was done because a resolved value is another by now.
    let isStale: Bool
    /// When the same call may succeed, milliseconds from now; `nil` where that is not known.
    public let retryAfterMs: Int?

    /// Whether the same call may succeed later.
    public var isUnavailable: Bool { code == ErrorCode.unavailable.rawValue }

    /// A failure that the gateway tells.
    public init(_ refusal: Refusal) {
        (code, message, status) = (refusal.name, refusal.message, refusal.status)
        (isFenced, isStale, retryAfterMs) = (false, false, refusal.retryAfterMs)
    }

    /// A failure that the script told.
    init(_ error: DeclaredError, _ message: String) {
        (code, self.message, status) = (error.code, message, error.status)
        (isFenced, isStale, retryAfterMs) = (false, false, nil)
    }

    /// The same failure, with the time to come back where a rate was used up.
    public func after(_ waitMs: Int) -> CommandFailure {
        guard code == ErrorCode.rateLimited.rawValue, retryAfterMs == nil, waitMs > 0 else { return self }
        return CommandFailure(Refusal(.rateLimited, message, retryAfterMs: waitMs))
    }

    private init(conflict message: String, isStale: Bool = false) {
        (code, self.message, status) = (ErrorCode.conflict.rawValue, message, ErrorCode.conflict.httpStatus)
        (isFenced, self.isStale, retryAfterMs) = (!isStale, isStale, nil)
    }

    /// The failure of a refresh whose lease has passed to another worker.
    public static let fenced = CommandFailure(conflict: "another worker has this since")

    /// The failure of a call whose resolved values have changed again and again.
    static let stale = CommandFailure(
        conflict: "what this call concerns is changing; try again", isStale: true)
}
