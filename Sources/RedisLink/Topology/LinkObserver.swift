/// The callbacks of the links of a thread.
///
/// Thread: the reactor's.
public protocol LinkObserver: AnyObject {
    /// A connection to a server is ready for calls.
    func connected(_ server: ServerID, _ facts: ServerFacts)
    /// A link asks for the placement, which ``RedisLinks/follow(_:)`` takes.
    func hint(_ hint: ServerHint)
    /// Returns the figures in which a new link counts; `address` is that of a master of a cluster, otherwise `nil`.
    func statistics(of address: ClusterAddress?) -> RedisStatistics
    /// A master of a cluster writes another history than before, or follows the master of another address.
    func historyChanged(_ master: ClusterAddress, before: ClusterAddress?, keepsEpochs: Bool)
    /// A script does not compile: it fails on every call, and all others work as before.
    func scriptIsBroken(_ name: String, _ failure: RedisFailure)
    /// Positions do not outlive a restart of Redis, for the reason in the text.
    func epochsAreInDoubt(_ text: StaticString)
    /// Returns the last event that the owner knows of, `nil` for none; called when a connection is lost.
    func witness() -> LinkWitness?
}

extension LinkObserver {
    /// Counts in figures of its own.
    public func statistics(of address: ClusterAddress?) -> RedisStatistics { RedisStatistics() }
    /// Does nothing.
    public func historyChanged(_ master: ClusterAddress, before: ClusterAddress?, keepsEpochs: Bool) {}
    /// Does nothing.
    public func scriptIsBroken(_ name: String, _ failure: RedisFailure) {}
    /// Does nothing.
    public func epochsAreInDoubt(_ text: StaticString) {}
    /// Knows of none.
    public func witness() -> LinkWitness? { nil }
}
