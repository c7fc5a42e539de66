/// A reason to ask for the address of the servers.
public enum ServerHint: Equatable, Sendable {
    /// A link is about to dial.
    case dialling
    /// A master that had replicas has none any more: another may have taken its place.
    case lonely
    /// Something else suggests that the master may have changed.
    case suspicion
    /// The node of a cluster at this address has a newer map.
    case redirected(ClusterAddress)
}
