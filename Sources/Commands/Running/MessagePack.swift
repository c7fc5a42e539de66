import RedisLink

/// Writes values as Lua's `cmsgpack.unpack` in Redis reads them (the MessagePack specification, "Formats").
///
/// Redis's null is `false`, as in replies of `redis.call`.
enum MessagePack {
    /// An array; its elements follow.
    static func append(arrayOf count: Int, to bytes: inout [UInt8]) {
        bytes.append(0xdd)
        append(length: count, to: &bytes)
    }

    /// A string of any bytes.
    static func append(string: [UInt8], to bytes: inout [UInt8]) {
        bytes.append(0xdb)
        append(length: string.count, to: &bytes)
        bytes += string
    }

    /// A reply of Redis; an error is a table with the member `err`, as `redis.pcall` returns it.
    static func append(_ value: RESPValue, to bytes: inout [UInt8]) {
        if let text = value.bytes {
            append(string: text, to: &bytes)
        } else if let number = value.integer {
            bytes.append(0xd3)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: number >> shift))
            }
        } else if let elements = value.elements {
            append(arrayOf: elements.count, to: &bytes)
            for element in elements { append(element, to: &bytes) }
        } else if let failure = value.failure {
            bytes.append(0x81)
            append(string: Array("err".utf8), to: &bytes)
            append(string: Array(failure.detail.utf8), to: &bytes)
        } else {
            bytes.append(0xc2)
        }
    }

    private static func append(length: Int, to bytes: inout [UInt8]) {
        let length = UInt32(truncatingIfNeeded: length)
        for shift in stride(from: UInt32(24), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: length >> shift))
        }
    }
}
