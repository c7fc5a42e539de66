/// What one client has received of one topic, by the sequence numbers: each once and in order, or not.
///
/// Losses are not told here: they are what was published less what ``Verdict/isNew`` counted.
struct SequenceLedger {
    /// What a number is to the client.
    enum Verdict: Equatable {
        /// The next, or one beyond a hole.
        case inOrder
        /// It fills a hole: it came after a later one.
        case late
        /// It came before.
        case duplicate

        var isNew: Bool { self != .duplicate }
    }

    /// The next number; all below came, but for the holes.
    private var next: Int
    /// Numbers below ``next`` that did not come, ascending; rarely any.
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
