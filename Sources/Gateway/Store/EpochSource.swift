import Core
import Rights

/// Makes candidate epochs: random per process, counted within it, so that none is ever made twice.
struct EpochSource {
    private let base: [UInt8]
    private var count = 0

    init() {
        base = Base64.encode(SecureRandom.bytes(6), .url)
    }

    /// A new candidate.
    mutating func next() -> [UInt8] {
        count &+= 1
        var epoch = base
        epoch.append(UInt8(ascii: "-"))
        epoch.append(decimal: count)
        return epoch
    }
}
