public import Reactors
public import RedisLink

/// The clocks by which a shard decides.
///
/// Thread: the shard's.
public struct ShardClock {
    private let monotonicMs: () -> Int
    private let sharedMs: () -> Int
    private let resumedMs: () -> Int

    /// A clock of monotonic milliseconds, and of milliseconds since 1970 by the clock of all nodes; it never stalls.
    public init(monotonicMs: @escaping () -> Int, wallMs: @escaping () -> Int) {
        self.monotonicMs = monotonicMs
        sharedMs = wallMs
        resumedMs = { Int.min }
    }

    /// The clock of a reactor, and the clock of all nodes.
    public init(_ reactor: Reactor, _ node: NodeClock) {
        monotonicMs = { reactor.nowMs }
        sharedMs = { node.wallMs }
        resumedMs = { reactor.stalledMs }
    }

    /// Monotonic milliseconds of this tick.
    public var nowMs: Int { monotonicMs() }
    /// When the shard last resumed after a stop of the process, monotonic milliseconds.
    public var stalledMs: Int { resumedMs() }
    /// Milliseconds since 1970 by the clock of all nodes; for tokens only.
    public var wallMs: Int { sharedMs() }
    /// Seconds since 1970; for tokens only.
    public var wallSeconds: Int { wallMs / 1_000 }
}
