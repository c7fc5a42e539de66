public import Reactors

/// Figures of a group that Sentinels watch.
///
/// Thread: written by the watch's, readable by any.
public final class SentinelStatistics: Sendable {
    /// Sentinels that the configuration names; 0 for one server.
    public let configured = Counter()
    /// Sentinels that answered the last question.
    public let answering = Counter()
    /// Masters that were left for another, epochs going on.
    public let switchesKept = Counter()
    /// Masters that were left for another, every epoch ending.
    public let switchesReset = Counter()
    /// Questions that found no master that may be used.
    public let lost = Counter()
    /// Where the master is, `host:port`; empty while none is known.
    public let master = Guarded("")

    /// Zeroes.
    public init() {}
}
