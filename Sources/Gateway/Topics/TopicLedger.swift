import Core
import Transport

/// What became of one topic's events on one shard, counted so that two sums must balance.
///
/// Events: as far as the feed's position has advanced, so many events came, were repaired, or were told to be missed.
/// Deliveries: as often as an event was handed to a member, it was written, conflated, dropped, or still waits.
struct TopicLedger {
    /// Events that came in order on the channel.
    var came = 0
    /// Events without a position: delivered at most once.
    var plain = 0
    /// Events that came again, or of an epoch that is over.
    var late = 0
    /// Events fetched from the log to close a hole.
    var repaired = 0
    /// Offsets that no log holds any more: a gap was told instead.
    var missed = 0
    /// Epochs that ended while members were live: a gap was told.
    var resets = 0
    /// Gap messages to members.
    var signalled = 0
    /// Events from the log given to joining clients, of ``handed``.
    var recovered = 0
    /// Events handed to members.
    var handed = 0
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

    /// How far the feed has advanced in all.
    func advanced(to position: Position?) -> Int {
        guard let base, let position, position.epoch == base.epoch else { return advancedBefore }
        return advancedBefore + position.offset - base.offset
    }
}
