/// Frames of several items that follow one another: one entry of a queue until it has to be split.
///
/// Frames that go to many connections together cost each of them one entry, however many they are. When a peer reads
/// too slowly, its queue splits the burst and treats each frame separately.
public final class OutboundBurst: OutboundItem {
    /// A frame and its item.
    public typealias Part = (frame: [UInt8], item: OutboundItem)

    /// All frames, joined.
    let frame: [UInt8]
    private let tellParts: () -> [Part]

    /// Makes a burst of `count` frames, joined in `frame`, whose items all count in `counts` and in the totals of the
    /// node.
    ///
    /// `parts` returns them one by one, none of them empty; for most bursts it is never called.
    public init(_ frame: [UInt8], count: Int, counts: OutboundCounts, parts: @escaping () -> [Part]) {
        self.frame = frame
        tellParts = parts
        super.init(counts: counts, isCounted: true, count: count)
    }

    /// The frames one by one.
    var parts: [Part] { tellParts() }
}
