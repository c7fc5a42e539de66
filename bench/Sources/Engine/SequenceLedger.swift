/// The messages that one client has received of one topic, by sequence number: whether each came once and in order.
///
/// Losses are not determined here: they are the published messages less those that ``Verdict/isNew`` counted.
struct SequenceLedger {
    /// The meaning of a number for the client.
    enum Verdict: Equatable {
        /// The next, or one beyond a hole.
        case inOrder
        /// It fills a hole: it arrived after a later one.
        case late
        /// It was received before.
        case duplicate

        var isNew: Bool { self != .duplicate }
    }

    /// The next number; all below were received, except for the holes.
    private var next: Int
    /// Numbers below ``next`` that were not received, ascending; rarely any.
    private var holes: [Range<Int>] = []

    /// - Parameter next: The first number that is expected.
    init(next: Int = 1) {
        self.next = next
    }

    /// Takes a number.
    @inline(__always) mutating func take(_ sequence: Int) -> Verdict {
        if sequence == next {
            next &+= 1
            return .inOrder
        }
        return takeOther(sequence)
    }

    @inline(never) private mutating func takeOther(_ sequence: Int) -> Verdict {
        if sequence > next {
            holes.append(next..<sequence)
            next = sequence + 1
            return .inOrder
        }
        guard let index = holes.lastIndex(where: { $0.contains(sequence) }) else { return .duplicate }
        let hole = holes[index]
        let rest = [hole.lowerBound..<sequence, sequence + 1..<hole.upperBound].filter { !$0.isEmpty }
        holes.replaceSubrange(index...index, with: rest)
        return .late
    }
}
