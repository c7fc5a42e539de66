public import Reactors

/// A way in which Redis is run: it decides which links there are, and how they find their servers.
///
/// The URL chooses one (``RedisURL/topology``). All other code asks the topology, or the links that it has made.
public protocol RedisTopology: Sendable {
    /// Whether topics' channels are sharded, and the keys of a script must lie in one slot.
    var isSharded: Bool { get }
    /// Makes the directory for links to the one server; `nil` where each master has links of its own.
    func directory(_ target: RedisTarget, asking: @escaping (ServerHint) -> Void) -> PrimaryDirectory?
    /// Begins to watch where the masters are; `nil` where the address is constant.
    func watch(
        _ setup: LinkSetup, _ statistics: SentinelStatistics, tell: @escaping (PlacementUpdate) -> Void
    ) throws(Errno) -> (any PlacementWatch)?
    /// Makes a thread's links for calls, and begins to dial.
    func calls(
        _ setup: LinkSetup, registry: ScriptRegistry, observer: any LinkObserver
    ) throws(Errno) -> any RedisLinks
    /// Makes a thread's links that receive channels, and begins to dial.
    ///
    /// `inbox` is the plain channel on which other processes send to this one, for the thread that receives it.
    func bus(
        _ setup: LinkSetup, inbox: [UInt8]?, owner: any BusSubscriberOwner
    ) throws(Errno) -> any BusSubscriber
}

extension RedisTarget {
    /// The topology of the URL.
    public var topology: any RedisTopology { url.topology }
}
