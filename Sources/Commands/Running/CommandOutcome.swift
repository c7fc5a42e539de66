public import Core

/// The outcome of a call.
public enum CommandOutcome: Equatable, Sendable {
    /// The script's answer.
    case answer(CommandAnswer)
    /// The gateway or the script did nothing, for a reason that the caller receives.
    case refused(Refusal)
    /// A refresh did nothing: another worker has a newer fencing token.
    case fenced
    /// The call did nothing: a resolved value has changed since it was read.
    case stale

    /// The answer, or the refusal that a caller receives.
    public var result: Result<CommandAnswer, Refusal> {
        switch self {
        case .answer(let answer): .success(answer)
        case .refused(let refusal): .failure(refusal)
        case .fenced: .failure(Refusal(.conflict, "another worker has this since"))
        case .stale: .failure(Refusal(.conflict, "what this call concerns is changing; try again"))
        }
    }
}

extension Refusal {
    /// The refusal of a call whose script or reply is at fault; the log has the fault.
    static let brokenScript = Refusal(.internalError, "the command failed; the gateway's log tells why")

    /// Makes the refusal that a script reports.
    init(_ error: DeclaredError, _ message: String) {
        self.init(named: error.code, status: error.status, message)
    }

    /// Whether the same call may succeed later.
    public var isUnavailable: Bool { name == ErrorCode.unavailable.rawValue }

    /// The same refusal, with the time until the rate allows another call when a rate was used up.
    public func after(_ waitMs: Int) -> Refusal {
        guard name == ErrorCode.rateLimited.rawValue, retryAfterMs == nil, waitMs > 0 else { return self }
        return Refusal(.rateLimited, message, retryAfterMs: waitMs, about: subject)
    }
}
