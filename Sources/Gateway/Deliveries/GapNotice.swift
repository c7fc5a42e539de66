import Core
import Transport

/// A queued `gap` that replaces events taken out of a slow client's queue; a later thinning may move it.
///
/// Thread: the shard's.
final class GapNotice: OutboundItem {
    let topic: Topic
    let position: Position

    init(topic: Topic, position: Position) {
        self.topic = topic
        self.position = position
        // The gateway's own message is not counted among deliveries.
        super.init(counts: OutboundCounts(), isCounted: false)
    }
}
