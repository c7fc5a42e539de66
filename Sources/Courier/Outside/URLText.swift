import Core

/// Text within a URL.
enum URLText {
    /// The text with all but unreserved characters as `%XX` (RFC 3986 section 2.1).
    static func encoded(_ text: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text {
            if ASCII.isLetter(byte) || ASCII.isDigit(byte) || [0x2d, 0x2e, 0x5f, 0x7e].contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
