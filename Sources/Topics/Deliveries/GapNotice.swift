public import Connections
public import Core

/// A queued `gap` that replaces events taken out of a slow client's queue; a later thinning may move it.
///
/// Thread: the shard's.
public final class GapNotice: OutboundItem {
    /// The topic with the missing events.
    public let topic: Topic
    /// The position of the last missing event.
    public let position: Position

    /// A gap that ends at `position`.
    public init(topic: Topic, position: Position) {
        self.topic = topic
        self.position = position
        // The gateway's own message is not counted among deliveries.
        super.init(counts: OutboundCounts(), isCounted: false)
    }
}
