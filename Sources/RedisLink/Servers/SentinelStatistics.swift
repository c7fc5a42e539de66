public import Reactors

/// Figures of a group that Sentinels watch.
///
/// Thread: written by the watch's, readable by any.
public final class SentinelStatistics: Sendable {
    /// Sentinels that the configuration names; 0 for one server.
    public let configured = Counter()
    /// Sentinels that answered the last question.
    public let answering = Counter()
    /// Changes to another master after which epochs continued.
    public let switchesKept = Counter()
    /// Changes to another master after which every epoch ended.
    public let switchesReset = Counter()
    /// Questions that found no usable master.
    public let lost = Counter()
    /// The address of the master, `host:port`; empty while none is known.
    public let master = Guarded("")

    /// Begins with zeroes.
    public init() {}
}
