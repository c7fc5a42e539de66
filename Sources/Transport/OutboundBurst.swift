/// Frames of several items that follow one another: one entry of a queue until it has to tell them apart.
///
/// Frames that go to many connections together cost each of them one entry however many they are; when a peer reads too
/// slowly, its queue splits the burst and treats each frame as if it had come alone.
public final class OutboundBurst: OutboundItem {
    /// A frame and what it stands for.
    typealias Part = (frame: [UInt8], item: OutboundItem)

    let parts: [Part]
    /// All frames, joined.
    let frame: [UInt8]

    /// Joins frames, none of them empty, whose items all count in `counts` and in the totals of the node.
    public init(_ parts: [(frame: [UInt8], item: OutboundItem)], counts: OutboundCounts) {
        self.parts = parts
        var frame: [UInt8] = []
        frame.reserveCapacity(parts.reduce(0) { $0 + $1.frame.count })
        for part in parts { frame += part.frame }
        self.frame = frame
        super.init(counts: counts, isCounted: true, count: parts.count)
    }
}
