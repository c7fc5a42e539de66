/// A way of using a route, a topic or a command: an API key may be narrowed to one of them.
public enum CallerUse: String, CaseIterable, Sendable {
    /// Looks at state, history, presence, or the gateway itself.
    case read
    /// Changes something: publishes, calls a command that writes, gives or takes rights.
    case write
}
