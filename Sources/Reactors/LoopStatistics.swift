internal import Synchronization

/// The duration of a reactor's ticks, for which an event may wait behind others (the loop lag).
///
/// The reactor writes it; any thread may read it. Durations are counted in power-of-two buckets of microseconds.
public final class LoopStatistics: Sendable {
    /// Upper bounds of the buckets, microseconds.
    static let boundsUs = [
        64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072, 1_048_576,
    ]

    /// The duration of each tick, without its wait.
    public let durations = DurationHistogram(boundsUs: LoopStatistics.boundsUs)
    /// The number of ticks.
    public let ticks = Counter()
    /// The time at which the last tick ended, monotonic milliseconds; a watchdog compares it with the present time.
    public let lastTickMs = Counter()

    /// Begins with zeroes.
    public init() {}

    func record(durationUs: Int, nowMs: Int) {
        ticks.add(1)
        durations.record(us: durationUs)
        lastTickMs.set(nowMs)
    }
}

/// A number with one writing thread and any number of readers.
///
/// Access costs a plain load and store: no locked instruction, and no check for exclusive access, which a variable of a
/// class costs.
public struct Tally: ~Copyable, Sendable {
    private let storage = Atomic<Int>(0)

    /// Begins with zero.
    public init() {}

    /// The number.
    public var value: Int { storage.load(ordering: .relaxed) }

    /// Adds; wraps at the end of `Int`.
    ///
    /// Thread: the one writer's.
    public func add(_ amount: Int) {
        storage.store(storage.load(ordering: .relaxed) &+ amount, ordering: .relaxed)
    }

    /// Replaces the number.
    ///
    /// Thread: the one writer's.
    public func set(_ value: Int) {
        storage.store(value, ordering: .relaxed)
    }
}

/// A ``Tally`` that several objects may own.
public final class Counter: Sendable {
    private let tally = Tally()

    /// Begins with zero.
    public init() {}

    /// The number.
    public var value: Int { tally.value }

    /// Adds; wraps at the end of `Int`.
    ///
    /// Thread: the one writer's.
    public func add(_ amount: Int) {
        tally.add(amount)
    }

    /// Replaces the number.
    ///
    /// Thread: the one writer's.
    public func set(_ value: Int) {
        tally.set(value)
    }
}
