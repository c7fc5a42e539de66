/// Why somebody asks where the servers are.
public enum ServerHint: Equatable, Sendable {
    /// A link is about to dial.
    case dialling
    /// A master that had replicas has none any more: it may have been left behind.
    case lonely
    /// Something else says that the master may have changed.
    case suspicion
}
