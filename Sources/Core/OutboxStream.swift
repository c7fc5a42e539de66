/// One stream of the outbox: a lane of a slot, for entries of commands or for those that their calls cause.
///
/// Entries are put into the lane of their payer, so a flood of one payer fills one lane. Entries that calls of the
/// worker cause wait in a second stream, whose room no command can take.
public struct OutboxStream: Hashable, Sendable {
    /// The hash slot, 0...16383; 0 on plain names.
    public let slot: Int
    /// The lane, 0..<``lanes``.
    public let lane: Int
    /// Whether it is for entries that the worker's calls cause.
    public let isFollowUp: Bool

    /// The lanes of each slot; the number is part of the names of keys.
    public static let lanes = 16

    /// Makes a stream of a lane.
    ///
    /// A greater lane or slot counts modulo their number.
    public init(slot: Int, lane: Int, isFollowUp: Bool) {
        self.slot = slot & (HashSlot.count - 1)
        self.lane = lane & (OutboxStream.lanes - 1)
        self.isFollowUp = isFollowUp
    }

    /// The lane of a payer.
    public static func lane(of payer: some Sequence<UInt8>) -> Int {
        Int(truncatingIfNeeded: StableHash.of(payer)) & (lanes - 1)
    }

    /// Both streams of each lane of a slot, entries of commands first.
    public static func all(of slot: Int) -> [OutboxStream] {
        [false, true].flatMap { isFollowUp in
            (0..<lanes).map { OutboxStream(slot: slot, lane: $0, isFollowUp: isFollowUp) }
        }
    }

    /// The end of the name, after `#outbox`: nothing, or `:3`, `:next`, `:3:next`.
    var suffix: [UInt8] { OutboxStream.suffixes[lane + (isFollowUp ? OutboxStream.lanes : 0)] }

    /// The suffixes of ``all(of:)``, in its order.
    static let suffixes: [[UInt8]] = ["", ":next"].flatMap { end in
        (0..<lanes).map { Array((($0 == 0 ? "" : ":\($0)") + end).utf8) }
    }

    /// Reads a suffix; `nil` for another text.
    init?(slot: Int, suffix: some Collection<UInt8>) {
        guard let place = OutboxStream.suffixes.firstIndex(where: { $0.elementsEqual(suffix) }) else { return nil }
        self.init(slot: slot, lane: place, isFollowUp: place >= OutboxStream.lanes)
    }
}
