import Connections
import Core

/// Counts of one topic's events on one shard, such that two sums must balance.
///
/// Events: the advance of the topic's position equals the events received, repaired and reported as missed. Deliveries:
/// the events handed to members equal those written, conflated, dropped and waiting.
struct TopicLedger {
    /// The counts made here; ``report(members:at:)`` adds those of the queues.
    var figures = TopicReport()
    /// Outcome counts of the members' queues.
    let counts: OutboundCounts

    /// The position at which the current stretch began; a new epoch or a gap begins another.
    private var base: Position?
    /// Sum of the lengths of the stretches before it.
    private var advancedBefore = 0

    init(counts: OutboundCounts = OutboundCounts()) {
        self.counts = counts
    }

    /// The topic continues from a position other than the one it has reached.
    mutating func begins(at position: Position, after reached: Position?) {
        ends(at: reached)
        base = position
    }

    /// The topic loses its position.
    mutating func ends(at reached: Position?) {
        advancedBefore = advanced(to: reached)
        base = nil
    }

    /// All counts, for a topic at that position.
    func report(members: Int, at position: Position?) -> TopicReport {
        var report = figures
        report.members = members
        report.advanced = advanced(to: position)
        report.written = counts.written
        report.conflated = counts.conflated
        report.droppedSlow = counts.droppedSlow
        report.droppedGone = counts.droppedGone
        report.waiting = counts.waiting
        return report
    }

    /// Total advance of the topic.
    func advanced(to position: Position?) -> Int {
        guard let base, let position, position.epoch == base.epoch else { return advancedBefore }
        return advancedBefore + position.offset - base.offset
    }
}
