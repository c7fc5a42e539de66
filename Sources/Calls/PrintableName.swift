/// Names given by clients, as they may appear in messages and logs.
enum PrintableName {
    /// The name with anything but printable ASCII replaced, cut to 64 bytes, in quotes.
    static func shown(_ name: String) -> String {
        let bytes = name.utf8.prefix(64).map { $0 > 0x20 && $0 < 0x7f && $0 != 0x22 ? $0 : UInt8(ascii: "?") }
        return "'" + String(decoding: bytes, as: UTF8.self) + "'"
    }
}
