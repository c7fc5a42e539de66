public import Connections
public import Core

/// Events of one topic that are handed to members together: joined once per encoding.
///
/// Thread: the shard's.
public final class DeliveryBatch {
    /// The events, oldest first; never changed.
    public let deliveries: [Delivery]
    private let counts: OutboundCounts
    /// Whether any of the events bears a publisher id; determined once for all members.
    private let hasOrigins: Bool
    private var bursts: [(number: Int, burst: OutboundBurst)] = []

    /// `counts` are those of the topic on its shard.
    init(_ deliveries: [Delivery], counts: OutboundCounts) {
        self.deliveries = deliveries
        hasOrigins = deliveries.contains { $0.message.origin != nil }
        self.counts = counts
    }

    /// Whether one of the events was published by that session, which excludes it.
    public func hasEvent(of origin: EchoExclusion?) -> Bool {
        hasOrigins && deliveries.contains { $0.message.origin == origin }
    }

    /// The bytes of the events in an encoding; `nil` when the encoding cannot express one of them.
    public func burst(_ encoding: Encoding) -> OutboundBurst? {
        for known in bursts where known.number == encoding.number { return known.burst }
        var frames: [UInt8] = []
        var bytes = 0
        for delivery in deliveries {
            let count = delivery.frame(encoding).count
            if count == 0 { return nil }
            bytes += count
        }
        frames.reserveCapacity(bytes)
        for delivery in deliveries { frames += delivery.frame(encoding) }
        let burst = OutboundBurst(frames, count: deliveries.count, counts: counts) { [deliveries] in
            deliveries.map { ($0.frame(encoding), $0) }
        }
        bursts.append((encoding.number, burst))
        return burst
    }
}
