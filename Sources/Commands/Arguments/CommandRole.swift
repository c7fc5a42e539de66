public import Rights

/// The role in which a command is called.
public enum CommandRole: String, CaseIterable, Sendable {
    /// A client without a token.
    case anonymous
    /// A client with a token.
    case user
    /// A backend.
    case service
    /// The worker: relayed calls, heartbeats and refreshes.
    case worker

    /// The role of a caller of the gateway.
    public init(_ caller: Caller) {
        if caller.isAnonymous {
            self = .anonymous
        } else {
            self = caller.isService ? .service : .user
        }
    }
}
