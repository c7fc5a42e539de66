internal import Reactors
internal import Synchronization

/// The time since 1970 on which a process bases decisions: the end of tokens, the extent of a revocation, due bookings.
///
/// It is Redis's time, carried on by the process's own monotonic clock, so that a wrong wall clock of one machine has
/// no effect. It is the process's own wall clock until Redis has returned its time, and while ``ClockVerdict`` judges
/// Redis's clock wrong. Thread: any.
public final class NodeClock: Sendable {
    /// The time since 1970 minus the monotonic time, milliseconds; ``own`` for the wall clock.
    private let baseMs = Atomic<Int>(NodeClock.own)
    private let settled = Atomic<Bool>(false)

    private static let own = Int.min

    /// Begins with the process's wall clock, until Redis has returned its time.
    public init() {}

    /// Now, milliseconds since 1970.
    public var wallMs: Int {
        let base = baseMs.load(ordering: .relaxed)
        return base == NodeClock.own ? Clock.wallMs() : base + Clock.monotonicMs()
    }

    /// Whether ``follow(baseMs:)`` or ``followOwn()`` was called since the start, so that Redis was asked for its time.
    public var isSettled: Bool { settled.load(ordering: .relaxed) }

    /// Follows Redis from now on; `baseMs` is its time minus this process's monotonic time.
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
