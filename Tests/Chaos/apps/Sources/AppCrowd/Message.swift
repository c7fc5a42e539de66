import SwitchboardClient

/// What a publisher of the chaos runs said (publishers.py): its id, and a sum over the text as it was written.
struct Message {
    /// The id and the sum, as the checker compares them; `-` for an id where there is none.
    let words: String

    /// The text is put together again from the members, which the publishers write in this order.
    init(_ data: JSONValue) {
        let members = ["m", "t", "k", "p"].compactMap { name in data[name].map { "\"\(name)\":\($0.text)" } }
        let sum = String(Message.crc32(Array("{\(members.joined(separator: ","))}".utf8)), radix: 16)
        words = "\(data["m"]?.string ?? "-") " + String(repeating: "0", count: 8 - sum.count) + sum
    }

    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { sum, _ in sum & 1 == 0 ? sum >> 1 : sum >> 1 ^ 0xedb8_8320 }
    }

    /// The sum that zlib calls CRC-32.
    private static func crc32(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { sum, byte in sum >> 8 ^ table[Int((sum ^ UInt32(byte)) & 0xff)] }
    }
}
