public import Connections

/// The parts of new links: the thread, the address with its limits, and a name.
public struct LinkSetup {
    /// The reactor and the limits of connections.
    public let context: ConnectionContext
    /// The address of Redis, and the limits for its links.
    public let target: RedisTarget
    /// The name of the connections in `CLIENT LIST`.
    public let name: String

    /// Takes the parts.
    public init(_ context: ConnectionContext, _ target: RedisTarget, name: String) {
        self.context = context
        self.target = target
        self.name = name
    }

    /// The topology that the address names.
    public var topology: any RedisTopology { target.topology }
}

@available(*, unavailable)
extension LinkSetup: Sendable {}
