/// Finite defaults of a worker; configuration uses the same names as for ``Limits``.
public struct WorkerLimits: Sendable, Equatable {
    /// Life of a worker's lease without renewal; renewed every third of it.
    public var leaseMs = 3_000
    /// Longest time between refreshes of an id while Redis does not report changes, and after each change.
    public var sweepMs = 5_000
    /// Longest pause between two refreshes of an id without reported changes; it doubles from ``sweepMs`` on.
    public var sweepMaxMs = 300_000
    /// Refreshes in flight.
    public var refreshesMax = 64
    /// Refreshes of ids known to one worker; beyond: left to the next search of all keys.
    public var refreshIDsMax = 500_000
    /// Entries of the outbox read and not done.
    public var relayWindowMax = 4_096
    /// Entries of the outbox in flight.
    public var relaysMax = 256
    /// Part of the time for which outbox entries caused by users may keep Redis busy, percent.
    public var relayUsersPercent = 50
    /// Interval of checks of the outbox without a wake-up.
    public var relaySweepMs = 1_000
    /// Entries kept that could not be relayed; beyond: the oldest are dropped.
    public var outboxDeadMax = 10_000
    /// Time for which a call of an outside service waits for a courier before it is given up, seconds.
    public var callSeconds = 3_600
    /// Given-up calls that are kept of each service; beyond: the oldest are dropped.
    public var callsDeadMax = 1_000

    /// The defaults.
    public init() {}
}
