import Core
import Transport

/// What became of one topic's events on one shard, counted so that two sums must balance.
///
/// Events: as far as the feed's position has advanced, so many events came, were repaired, or were told to be missed.
/// Deliveries: as often as an event was handed to a member, it was written, conflated, dropped, or still waits.
struct TopicLedger {
    /// What is counted here; the queues' part is added by ``report(members:at:)``.
    var figures = TopicReport()
    /// What the members' queues made of them.
    let counts: OutboundCounts

    /// Where the current stretch of the feed began.
    private var base: Position?
    /// How far the stretches before it reached, added up.
    private var advancedBefore = 0

    init(counts: OutboundCounts = OutboundCounts()) {
        self.counts = counts
    }

    /// The feed goes on from another position than the one it has reached.
    mutating func begins(at position: Position, after reached: Position?) {
        ends(at: reached)
        base = position
    }

    /// The feed has no position any more.
    mutating func ends(at reached: Position?) {
        advancedBefore = advanced(to: reached)
        base = nil
    }

    /// Everything known, with the feed at that position.
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

    /// How far the feed has advanced in all.
    func advanced(to position: Position?) -> Int {
        guard let base, let position, position.epoch == base.epoch else { return advancedBefore }
        return advancedBefore + position.offset - base.offset
    }
}
