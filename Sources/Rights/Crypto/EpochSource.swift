import Core

/// Makes candidate epochs: random per source, counted within it, so that none is ever made twice.
public struct EpochSource: Sendable {
    private let base: [UInt8]
    private var count = 0

    /// Begins a source with fresh randomness.
    public init() {
        self.init(random: SecureRandom.bytes(6))
    }

    /// Begins a source with these bytes.
    ///
    /// A position is also a word of a command line (`--since EPOCH:OFFSET`), where a word that begins with a dash is a
    /// flag; so no epoch begins with one.
    init(random: [UInt8]) {
        var base = Base64.encode(random, .url)
        if base.first == UInt8(ascii: "-") { base[0] = UInt8(ascii: "e") }
        self.base = base
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
