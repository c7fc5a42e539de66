/// A small generator of repeatable numbers (SplitMix64), so that a failing case can be run again by its seed.
public struct Seeded: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Begins the sequence of a seed, the same on every machine.
    public init(_ seed: UInt64) {
        state = seed
    }

    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// Bytes as a network might hand them over: in pieces of 0 to 64, cut at the places that the seed chooses.
    public static func cuts(_ bytes: [UInt8], seed: UInt64) -> [[UInt8]] {
        var random = Seeded(seed)
        var pieces: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 0...min(64, rest.count), using: &random))
            pieces.append(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
        return pieces
    }
}
