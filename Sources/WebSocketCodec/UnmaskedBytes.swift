extension Array where Element == UInt8 {
    /// Appends input XORed with a repeating four-byte key (RFC 6455 section 5.3), eight bytes a step.
    ///
    /// The key's lowest byte applies to the first input byte. Returns the key for the byte after the last one, so that
    /// a payload may arrive in any pieces. *Complexity*: linear, near the speed of a copy.
    mutating func append(unmasking input: Span<UInt8>, key: UInt32) -> UInt32 {
        let start = count
        let added = input.count
        append(contentsOf: repeatElement(0, count: added))
        var span = mutableSpan
        let wideKey = UInt64(key) << 32 | UInt64(key)
        var index = 0
        while index &+ 8 <= added {
            let target = start &+ index
            // Never true. One check here and one in `extracting` spare the sixteen below: two moves and one XOR.
            if target < 0 || target > span.count &- 8 { break }
            let chunk = input.extracting(index..<(index &+ 8))
            var word: UInt64 = 0
            for offset in 0..<8 {
                word |= UInt64(truncatingIfNeeded: chunk[offset]) &<< UInt64(truncatingIfNeeded: offset &* 8)
            }
            word ^= wideKey
            for offset in 0..<8 {
                span[target &+ offset] = UInt8(truncatingIfNeeded: word &>> UInt64(truncatingIfNeeded: offset &* 8))
            }
            index &+= 8
        }
        var rest = key
        while index < added {
            span[start &+ index] = input[index] ^ UInt8(truncatingIfNeeded: rest)
            rest = rest &>> 8 | rest &<< 24
            index &+= 1
        }
        return rest
    }
}
