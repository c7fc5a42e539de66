/// The hash slots of Redis Cluster: keys of one slot are on one server, and a script can only use keys of one slot.
public enum HashSlot {
    /// The number of slots.
    public static let count = 16_384

    /// The slot of a key or channel, 0...16383.
    ///
    /// It is that of the bytes between the first `{` and the next `}`, else of all bytes (Redis Cluster specification,
    /// "Hash tags").
    public static func of(_ name: some Collection<UInt8>) -> Int {
        if let open = name.firstIndex(of: UInt8(ascii: "{")) {
            let tag = name[name.index(after: open)...].prefix { $0 != UInt8(ascii: "}") }
            if !tag.isEmpty && tag.endIndex != name.endIndex { return slot(tag) }
        }
        return slot(name)
    }

    /// A text with that slot for use between braces: the least whole number whose digits have it.
    ///
    /// - Parameter slot: 0...16383; a greater one counts modulo ``count``.
    public static func tag(of slot: Int) -> [UInt8] {
        var text: [UInt8] = []
        text.append(decimal: Int(tags[slot & (count - 1)]))
        return text
    }

    private static func slot(_ bytes: some Collection<UInt8>) -> Int {
        var crc: UInt16 = 0
        for byte in bytes { crc = crc << 8 ^ table[Int(UInt8(truncatingIfNeeded: crc >> 8) ^ byte)] }
        return Int(crc) & (count - 1)
    }

    /// CRC-16 of each byte, polynomial 0x1021 (XMODEM).
    private static let table: [UInt16] = (0..<256).map { byte in
        (0..<8).reduce(UInt16(byte) << 8) { crc, _ in crc & 0x8000 == 0 ? crc << 1 : crc << 1 ^ 0x1021 }
    }

    /// The tag of each slot, found by counting up once.
    private static let tags: [UInt32] = {
        var tags = [UInt32?](repeating: nil, count: count)
        var left = count
        var number: UInt32 = 0
        while left > 0 {
            var text: [UInt8] = []
            text.append(decimal: Int(number))
            let slot = slot(text)
            if tags[slot] == nil {
                tags[slot] = number
                left -= 1
            }
            number += 1
        }
        return tags.map { $0 ?? 0 }
    }()
}
