internal import Reactors

/// What became of the frames of one kind, such as a topic's events on a shard, counted where it happens.
///
/// At any moment, of all frames given to connections: `given == written + conflated + droppedSlow + droppedGone +
/// waiting`. Thread: the reactor's.
public final class OutboundCounts {
    /// Handed to the kernel or TLS to the last byte.
    public internal(set) var written: Int {
        get { writtenTally.value }
        set { writtenTally.set(newValue) }
    }
    /// Taken out of a queue because newer ones say the same.
    public internal(set) var conflated = 0
    /// Never written: their receiver read too slowly and was closed.
    public internal(set) var droppedSlow = 0
    /// Never written: their receiver was gone, for whatever other reason.
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

    /// Counts a frame that was never given to a connection, because its receiver is gone.
    public func countUndeliverable() {
        droppedGone += 1
    }
}

@available(*, unavailable)
extension OutboundCounts: Sendable {}

/// What a queued frame stands for, shared by the queues of all connections that are sent it.
///
/// A queue entry refers to it, so that what happens to the frame can be counted and the queue can be thinned.
open class OutboundItem {
    /// Where the frames are counted.
    public let counts: OutboundCounts
    /// Whether the frames belong into the totals of the node.
    public let isCounted: Bool
    /// How many frames it is counted as.
    let count: Int

    /// Makes an item whose frames are counted there; `isCounted` false for words of the gateway's own.
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
