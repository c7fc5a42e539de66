/// The purpose of a listener, which decides the routes that its connections may reach.
public enum ListenerRole: Sendable {
    /// Clients and backends; operations too when they have no listener of their own.
    case front(operations: Bool)
    /// The private listener of operations.
    case operations

    /// Whether this is the private listener.
    public var isOperations: Bool {
        if case .operations = self { return true }
        return false
    }
}
