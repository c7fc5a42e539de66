/// The CRC-32 of zlib and of IEEE 802.3 (reflected polynomial 0xEDB88320), by a table.
struct CRC32 {
    private let table: [UInt32]

    init() {
        table = (0..<256).map { (index: UInt32) in
            (0..<8).reduce(index) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xedb8_8320 }
        }
    }

    /// The sum of the bytes in a range of a text.
    func sum(_ text: Span<UInt8>, _ range: Range<Int>) -> UInt32 {
        let table = table.span
        var value: UInt32 = 0xffff_ffff
        for index in range {
            value = table[Int(UInt8(truncatingIfNeeded: value) ^ text[index])] ^ value >> 8
        }
        return ~value
    }
}
