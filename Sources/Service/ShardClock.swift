public import Reactors
public import RedisLink

/// The clocks by which a shard decides.
///
/// Thread: the shard's.
public struct ShardClock {
    private let reactor: Reactor
    private let node: NodeClock

    /// The clocks of a reactor, and the clock of all nodes.
    public init(_ reactor: Reactor, _ node: NodeClock) {
        self.reactor = reactor
        self.node = node
    }

    /// Monotonic milliseconds of this tick.
    public var nowMs: Int { reactor.nowMs }
    /// When the shard last resumed after a stop of the process, monotonic milliseconds.
    public var stalledMs: Int { reactor.stalledMs }
    /// Milliseconds since 1970 by the clock of all nodes; for tokens only.
    public var wallMs: Int { node.wallMs }
    /// Whether the clock of all nodes is known.
    public var isSettled: Bool { node.isSettled }
    /// Seconds since 1970; for tokens only.
    public var wallSeconds: Int { wallMs / 1_000 }
}
