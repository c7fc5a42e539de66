import Core

/// The number of distinct names among those of several parts, which may have names in common.
///
/// It keeps the smallest hashes: of more names than it keeps, their density shows the number, within about 3 %. Up to
/// ``hashesMax`` names it is exact. Pure.
struct DistinctCount: Equatable, Sendable {
    /// The kept hashes, the smallest first.
    private(set) var hashes: [Int] = []

    /// The most hashes that are kept.
    static let hashesMax = 1_024
    /// Hashes are below this bound, so that JSON numbers hold them exactly.
    private static let bound = 1 << 53

    /// Counts these hashes; `nil` when they are not those of a count.
    init?(hashes: [Int]) {
        guard hashes.count <= DistinctCount.hashesMax, hashes.allSatisfy((0..<DistinctCount.bound).contains),
            zip(hashes, hashes.dropFirst()).allSatisfy(<)
        else { return nil }
        self.hashes = hashes
    }

    /// Counts nothing yet.
    init() {}

    /// The hash of a name, which is the same on all nodes.
    static func hash(_ name: some Sequence<UInt8>) -> Int { Int(StableHash.of(name) >> 11) }

    /// Counts the names of these hashes.
    init(names: some Sequence<Int>) {
        hashes = Array(Set(names).sorted().prefix(DistinctCount.hashesMax))
    }

    /// Adds the names of another part.
    mutating func add(_ other: DistinctCount) {
        if !other.hashes.isEmpty { self = DistinctCount(names: hashes + other.hashes) }
    }

    /// The number of names.
    var count: Int {
        guard hashes.count == DistinctCount.hashesMax, let last = hashes.last, last > 0 else { return hashes.count }
        return Int(Double(hashes.count - 1) * Double(DistinctCount.bound) / Double(last))
    }
}

/// Gathers the hashes of a count, name by name.
///
/// Pure. *Complexity*: a hash above the largest kept one costs one comparison; a smaller one costs O(1) amortised.
struct DistinctCounter {
    /// The smallest hashes so far; more than a count keeps, so that they are seldom sorted.
    private var hashes: Set<Int> = []
    private var largest = Int.max

    /// Counts a name; one that was counted before changes nothing.
    mutating func add(_ name: some Sequence<UInt8>) {
        let hash = DistinctCount.hash(name)
        guard hash <= largest else { return }
        hashes.insert(hash)
        guard hashes.count == 2 * DistinctCount.hashesMax else { return }
        let kept = count.hashes
        (hashes, largest) = (Set(kept), kept.last ?? Int.max)
    }

    /// The count so far.
    var count: DistinctCount { DistinctCount(names: hashes) }
}
