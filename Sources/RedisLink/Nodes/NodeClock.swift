internal import Reactors
internal import Synchronization

/// The time since 1970 by which a process decides: when tokens end, what a revocation covers, when a booking is due.
///
/// It is Redis's time, carried on by the process's own monotonic clock, so that a wrong wall clock of one machine decides
/// nothing. Until Redis has told its time, and while ``ClockVerdict`` says that Redis's clock is the wrong one, it is the
/// process's own wall clock. Thread: any.
public final class NodeClock: Sendable {
    /// The time since 1970 less the monotonic time, milliseconds; ``own`` for the wall clock.
    private let baseMs = Atomic<Int>(NodeClock.own)
    private let settled = Atomic<Bool>(false)

    private static let own = Int.min

    /// The process's wall clock, until Redis has told its time.
    public init() {}

    /// Now, milliseconds since 1970.
    public var wallMs: Int {
        let base = baseMs.load(ordering: .relaxed)
        return base == NodeClock.own ? Clock.wallMs() : base + Clock.monotonicMs()
    }

    /// Whether Redis has been asked for its time since the start.
    public var isSettled: Bool { settled.load(ordering: .relaxed) }

    /// Follows Redis from now on; `baseMs` is its time less this process's monotonic time.
    public func follow(baseMs base: Int) {
        baseMs.store(base, ordering: .relaxed)
        settled.store(true, ordering: .relaxed)
    }

    /// Follows the process's own wall clock from now on.
    public func followOwn() {
        baseMs.store(NodeClock.own, ordering: .relaxed)
        settled.store(true, ordering: .relaxed)
    }
}
