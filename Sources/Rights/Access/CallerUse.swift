/// A way of using a route, a topic or a command: an API key may be narrowed to some of them.
public enum CallerUse: String, CaseIterable, Sendable {
    /// Reads state, history, presence, or the gateway's own figures.
    case read
    /// Changes something: publishes, calls a command that writes, grants or withdraws rights.
    case write
    /// Watches the messages of a client.
    case tap
}
