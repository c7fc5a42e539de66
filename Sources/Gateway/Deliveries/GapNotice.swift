import Core
import Transport

/// A queued `gap` that stands for events taken out of a slow client's queue; a later thinning may move it on.
///
/// Thread: the shard's.
final class GapNotice: OutboundItem {
    let topic: Topic
    let position: Position

    init(topic: Topic, position: Position) {
        self.topic = topic
        self.position = position
        // Nobody asks what became of the gateway's own word.
        super.init(counts: OutboundCounts(), isCounted: false)
    }
}
