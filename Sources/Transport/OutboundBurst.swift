/// Frames of several items that follow one another: one entry of a queue until it has to tell them apart.
///
/// Frames that go to many connections together cost each of them one entry however many they are; when a peer reads too
/// slowly, its queue splits the burst and treats each frame as if it had come alone.
public final class OutboundBurst: OutboundItem {
    /// A frame and what it stands for.
    public typealias Part = (frame: [UInt8], item: OutboundItem)

    /// All frames, joined.
    let frame: [UInt8]
    private let tellParts: () -> [Part]

    /// Makes a burst of `count` frames, joined in `frame`, whose items all count in `counts` and in the totals of the node.
    ///
    /// `parts` tells them one by one, none of them empty; most bursts are never asked.
    public init(_ frame: [UInt8], count: Int, counts: OutboundCounts, parts: @escaping () -> [Part]) {
        self.frame = frame
        tellParts = parts
        super.init(counts: counts, isCounted: true, count: count)
    }

    /// The frames one by one.
    var parts: [Part] { tellParts() }
}
