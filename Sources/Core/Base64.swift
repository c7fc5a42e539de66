/// Base64 of RFC 4648, strict: one spelling per value, so that no two texts decode to the same bytes.
public enum Base64 {
    /// Which of the two alphabets.
    public enum Alphabet: Sendable {
        /// Section 4: `+` and `/`, padded.
        case standard
        /// Section 5: `-` and `_`, never padded (RFC 7515 section 2).
        case url
    }

    /// Encodes; the standard alphabet is padded, the URL alphabet is not.
    public static func encode(_ bytes: some Collection<UInt8>, _ alphabet: Alphabet) -> [UInt8] {
        let digits = alphabet == .standard ? standardDigits : urlDigits
        var result: [UInt8] = []
        result.reserveCapacity((bytes.count + 2) / 3 * 4)
        var buffer: UInt32 = 0
        var bits = 0
        for byte in bytes {
            buffer = buffer << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                result.append(digits[Int(buffer >> UInt32(bits) & 63)])
            }
        }
        if bits > 0 { result.append(digits[Int(buffer << UInt32(6 - bits) & 63)]) }
        if alphabet == .standard {
            while result.count % 4 != 0 { result.append(UInt8(ascii: "=")) }
        }
        return result
    }

    /// Decodes; `nil` on any byte outside the alphabet, wrong padding, or set bits past the last byte.
    public static func decode(_ text: some Collection<UInt8>, _ alphabet: Alphabet) -> [UInt8]? {
        var body = Array(text)
        if alphabet == .standard {
            guard body.count % 4 == 0 else { return nil }
            for _ in 0..<2 where body.last == UInt8(ascii: "=") { body.removeLast() }
        }
        guard body.count % 4 != 1 else { return nil }
        let values = alphabet == .standard ? standardValues : urlValues
        var result: [UInt8] = []
        result.reserveCapacity(body.count / 4 * 3 + 2)
        var buffer: UInt32 = 0
        var bits = 0
        for byte in body {
            let value = values[Int(byte)]
            guard value < 64 else { return nil }
            buffer = buffer << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                result.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
            }
        }
        guard buffer & (1 << UInt32(bits) - 1) == 0 else { return nil }
        return result
    }

    private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private static let standardDigits = Array((letters + "+/").utf8)
    private static let urlDigits = Array((letters + "-_").utf8)
    private static let standardValues = values(of: standardDigits)
    private static let urlValues = values(of: urlDigits)

    private static func values(of digits: [UInt8]) -> [UInt8] {
        var table = [UInt8](repeating: 255, count: 256)
        for (value, digit) in digits.enumerated() { table[Int(digit)] = UInt8(value) }
        return table
    }
}
