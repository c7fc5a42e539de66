internal import Reactors

/// The counts of the frames of one kind, such as a topic's events on a shard.
///
/// At any moment, of all frames given to connections: `given == written + conflated + droppedSlow + droppedGone +
/// waiting`. Thread: the reactor's.
public final class OutboundCounts {
    /// Passed to the kernel or TLS to the last byte.
    public internal(set) var written: Int {
        get { writtenTally.value }
        set { writtenTally.set(newValue) }
    }
    /// Removed from a queue because newer ones replace them.
    public internal(set) var conflated = 0
    /// Never written: their receiver read too slowly and was closed.
    public internal(set) var droppedSlow = 0
    /// Never written: their receiver disconnected, for any other reason.
    public internal(set) var droppedGone = 0
    /// In a queue now, perhaps begun.
    public internal(set) var waiting: Int {
        get { waitingTally.value }
        set { waitingTally.set(newValue) }
    }

    // Every delivery changes these two.
    private let writtenTally = Tally()
    private let waitingTally = Tally()

    /// Zeroes.
    public init() {}

    /// Counts a frame that was never given to a connection, because its receiver has disconnected.
    public func countUndeliverable() {
        droppedGone += 1
    }
}

@available(*, unavailable)
extension OutboundCounts: Sendable {}

/// The identity of a queued frame, shared by the queues of all its receivers.
///
/// A queue entry refers to it, so that the fate of the frame can be counted and the queue can be thinned.
open class OutboundItem {
    /// The counts for the frames.
    public let counts: OutboundCounts
    /// Whether the frames count in the totals of the node.
    public let isCounted: Bool
    /// The number of frames that it counts as.
    let count: Int

    /// Makes an item whose frames are counted there; `isCounted` is false for messages of the gateway's own.
    public init(counts: OutboundCounts, isCounted: Bool = true) {
        self.counts = counts
        self.isCounted = isCounted
        count = 1
    }

    init(counts: OutboundCounts, isCounted: Bool, count: Int) {
        self.counts = counts
        self.isCounted = isCounted
        self.count = count
    }
}

@available(*, unavailable)
extension OutboundItem: Sendable {}
