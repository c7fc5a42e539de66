/// A hash that is the same in every process and version, unlike Swift's `Hasher`: workers must agree on it.
public enum StableHash {
    /// FNV-1a of 64 bits, then the finisher of SplitMix64, since the last bytes of FNV-1a reach only its low bits.
    public static func of(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash = (hash ^ (hash >> 30)) &* 0xbf58_476d_1ce4_e5b9
        hash = (hash ^ (hash >> 27)) &* 0x94d0_49bb_1331_11eb
        return hash ^ (hash >> 31)
    }
}
