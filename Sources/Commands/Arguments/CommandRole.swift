/// In which role a command is called.
public enum CommandRole: String, CaseIterable, Sendable {
    /// A client without a token.
    case anonymous
    /// A client with a token.
    case user
    /// A backend.
    case service
    /// The worker: relayed calls, heartbeats and refreshes.
    case worker
}
