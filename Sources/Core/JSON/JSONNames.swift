/// Checks that the members of one object have different names, without copying them.
///
/// Few members are compared with each other; many use a hash table of their indices. So small objects avoid the cost of
/// hashing, and large ones quadratic comparison. The standard library keys the hash at random, so that no sender can
/// choose names that collide.
enum JSONNames {
    /// The most members that are compared pairwise.
    private static let pairwiseMax = 12

    /// Checks the object at `index`, whose entries are complete; `count` is the number of its members.
    static func areDistinct(
        _ text: Span<UInt8>, _ entries: [JSON.Entry], of index: Int, count: Int
    ) -> Bool {
        if count < 2 { return true }
        var member = index + 1
        for _ in 0..<count {
            if entries[member].nameEscaped { return areDistinctDecoded(text, entries, of: index, count: count) }
            member = Int(entries[member].next)
        }
        if count <= pairwiseMax { return areDistinctPairwise(text, entries, of: index, count: count) }
        return areDistinctHashed(text, entries, of: index, count: count)
    }

    private static func areDistinctPairwise(
        _ text: Span<UInt8>, _ entries: [JSON.Entry], of index: Int, count: Int
    ) -> Bool {
        var left = index + 1
        for done in 1..<count {
            var right = Int(entries[left].next)
            for _ in done..<count {
                if equal(text, entries[left], entries[right]) { return false }
                right = Int(entries[right].next)
            }
            left = Int(entries[left].next)
        }
        return true
    }

    private static func areDistinctHashed(
        _ text: Span<UInt8>, _ entries: [JSON.Entry], of index: Int, count: Int
    ) -> Bool {
        // Open addressing at most half full; 0 is a free slot, since entry 0 is never a member.
        var size = 32
        while size < 2 * count { size *= 2 }
        var slots = [UInt32](repeating: 0, count: size)
        var member = index + 1
        for _ in 0..<count {
            var slot = hash(text, entries[member]) & (size - 1)
            while slots[slot] != 0 {
                if equal(text, entries[Int(slots[slot])], entries[member]) { return false }
                slot = (slot + 1) & (size - 1)
            }
            slots[slot] = UInt32(truncatingIfNeeded: member)
            member = Int(entries[member].next)
        }
        return true
    }

    /// The rare case of escapes in names: `"a"` and `"\u0061"` are one name.
    private static func areDistinctDecoded(
        _ text: Span<UInt8>, _ entries: [JSON.Entry], of index: Int, count: Int
    ) -> Bool {
        var names: Set<[UInt8]> = []
        names.reserveCapacity(count)
        var member = index + 1
        for _ in 0..<count {
            let entry = entries[member]
            var name: [UInt8] = []
            for place in Int(entry.nameStart)..<Int(entry.nameEnd) { name.append(text[place]) }
            if entry.nameEscaped { name = JSONText.unescaped(name[...]) }
            guard names.insert(name).inserted else { return false }
            member = Int(entry.next)
        }
        return true
    }

    private static func equal(_ text: Span<UInt8>, _ left: JSON.Entry, _ right: JSON.Entry) -> Bool {
        let count = Int(left.nameEnd &- left.nameStart)
        guard count == Int(right.nameEnd &- right.nameStart) else { return false }
        for offset in 0..<count
        where text[Int(left.nameStart) &+ offset] != text[Int(right.nameStart) &+ offset] { return false }
        return true
    }

    private static func hash(_ text: Span<UInt8>, _ entry: JSON.Entry) -> Int {
        var hasher = Hasher()
        var word: UInt64 = 0
        var filled = 0
        for place in Int(entry.nameStart)..<Int(entry.nameEnd) {
            word = word << 8 | UInt64(text[place])
            filled += 1
            if filled == 8 {
                hasher.combine(word)
                word = 0
                filled = 0
            }
        }
        // Names that differ only in leading NULs cannot occur: a name without escapes has no control byte.
        hasher.combine(word)
        return hasher.finalize()
    }
}
