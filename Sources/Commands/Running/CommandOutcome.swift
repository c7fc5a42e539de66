public import Core

/// The reason why a command did nothing, as its caller receives it.
public struct CommandFailure: Error, Equatable, Sendable {
    /// A code of ``ErrorCode`` or of the script's header.
    public let code: String
    /// A sentence for the developer of the client.
    public let message: String
    /// The HTTP status.
    public let status: Int
    /// Whether a refresh was refused because another worker has a newer fencing token.
    public let isFenced: Bool
    /// Whether nothing was done because a resolved value has changed since it was read.
    let isStale: Bool
    /// The time after which the same call may succeed, in milliseconds from now; `nil` when it is not known.
    public let retryAfterMs: Int?

    /// Whether the same call may succeed later.
    public var isUnavailable: Bool { code == ErrorCode.unavailable.rawValue }

    /// A failure that the gateway reports.
    public init(_ refusal: Refusal) {
        (code, message, status) = (refusal.name, refusal.message, refusal.status)
        (isFenced, isStale, retryAfterMs) = (false, false, refusal.retryAfterMs)
    }

    /// A failure that the script reports.
    init(_ error: DeclaredError, _ message: String) {
        (code, self.message, status) = (error.code, message, error.status)
        (isFenced, isStale, retryAfterMs) = (false, false, nil)
    }

    /// The same failure, with the time until the rate allows another call when a rate was used up.
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

    /// The failure of a call whose resolved values kept changing.
    static let stale = CommandFailure(
        conflict: "what this call concerns is changing; try again", isStale: true)
}
