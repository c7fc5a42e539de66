/// Finite defaults of a worker; configuration knows them by the same names as those of ``Limits``.
public struct WorkerLimits: Sendable, Equatable {
    /// How long a worker's hold on its shops lasts without renewal; renewed every third of it.
    public var leaseMs = 3_000
    /// Every known id is refreshed at least this often while Redis does not tell changes, and after each change.
    public var sweepMs = 5_000
    /// The longest pause between two refreshes of an id of which no change is told; it doubles from ``sweepMs`` on.
    public var sweepMaxMs = 300_000
    /// Refreshes in flight.
    public var refreshesMax = 64
    /// Refreshes of ids known to one worker; beyond: left to the next look through the keys.
    public var refreshIDsMax = 500_000
    /// Entries of the outbox read and not done.
    public var relayWindowMax = 4_096
    /// Entries of the outbox being done.
    public var relaysMax = 256
    /// Part of the time for which what users have caused may keep Redis busy by way of the outbox, percent.
    public var relayUsersPercent = 50
    /// Interval of looks into the outbox that nobody woke.
    public var relaySweepMs = 1_000
    /// Entries kept that could not be relayed; beyond: the oldest are dropped.
    public var outboxDeadMax = 10_000
    /// How long a call of a service outside waits for a courier; then it is given up, seconds.
    public var callSeconds = 3_600
    /// Calls kept that were given up, of each service; beyond: the oldest are dropped.
    public var callsDeadMax = 1_000

    /// The defaults.
    public init() {}
}
