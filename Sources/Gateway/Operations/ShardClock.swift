/// The time of a shard.
struct ShardClock {
    private let monotonicMs: () -> Int
    private let sharedMs: () -> Int

    /// A clock of the loop's monotonic milliseconds, and of milliseconds since 1970 by the clock of all nodes.
    init(monotonicMs: @escaping () -> Int, wallMs: @escaping () -> Int) {
        self.monotonicMs = monotonicMs
        sharedMs = wallMs
    }

    /// Monotonic milliseconds of this tick.
    var nowMs: Int { monotonicMs() }
    /// Milliseconds since 1970; for tokens only.
    var wallMs: Int { sharedMs() }
    /// Seconds since 1970; for tokens only.
    var wallSeconds: Int { wallMs / 1_000 }
}
