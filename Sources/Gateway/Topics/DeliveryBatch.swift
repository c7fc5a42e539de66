import Dialects
import Transport

/// Events of one topic that are handed to members together: joined once per dialect.
///
/// Thread: the shard's.
final class DeliveryBatch {
    let deliveries: [Delivery]
    private let counts: OutboundCounts
    private let variants: Int
    /// Empty until one is asked for.
    private var bursts: [OutboundBurst?] = []

    /// `counts` are those of the topic on its shard.
    init(_ deliveries: [Delivery], variants: Int, counts: OutboundCounts) {
        self.deliveries = deliveries
        self.variants = variants
        self.counts = counts
    }

    /// The WebSocket frames of the events in a dialect.
    func burst(_ variant: Int, _ dialect: any Dialect) -> OutboundBurst {
        if bursts.isEmpty { bursts = Array(repeating: nil, count: variants) }
        if let burst = bursts[variant] { return burst }
        var frames: [UInt8] = []
        var bytes = 0
        for delivery in deliveries { bytes += delivery.frame(variant, dialect).count }
        frames.reserveCapacity(bytes)
        for delivery in deliveries { frames += delivery.frame(variant, dialect) }
        let burst = OutboundBurst(frames, count: deliveries.count, counts: counts) { [deliveries] in
            deliveries.map { ($0.frame(variant, dialect), $0) }
        }
        bursts[variant] = burst
        return burst
    }
}
