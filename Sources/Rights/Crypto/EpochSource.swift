import Core

/// Makes candidate epochs: random per source, counted within it, so that none is ever made twice.
public struct EpochSource: Sendable {
    private let base: [UInt8]
    private var count = 0

    /// Begins a source with fresh randomness.
    public init() {
        base = Base64.encode(SecureRandom.bytes(6), .url)
    }

    /// A new candidate, in the grammar of ``Position/epoch``.
    public mutating func next() -> [UInt8] {
        count &+= 1
        var epoch = base
        epoch.append(UInt8(ascii: "-"))
        epoch.append(decimal: count)
        return epoch
    }
}
