/// Byte classes and strict number readers.
///
/// `Int("+5")`, `Double("nan")` and friends accept more than a protocol may; these accept digits and nothing else.
public enum ASCII {
    /// `0`...`9`.
    public static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
    /// `a`...`z`.
    public static func isLower(_ byte: UInt8) -> Bool { byte >= 0x61 && byte <= 0x7a }
    /// `A`...`Z`.
    public static func isUpper(_ byte: UInt8) -> Bool { byte >= 0x41 && byte <= 0x5a }
    /// A letter of either case.
    public static func isLetter(_ byte: UInt8) -> Bool { isLower(byte | 0x20) }

    /// The lower-case form of an ASCII letter; every other byte unchanged.
    public static func lowercased(_ byte: UInt8) -> UInt8 { isUpper(byte) ? byte | 0x20 : byte }

    /// Whether two byte sequences are equal, ASCII letters compared without case.
    public static func equalIgnoringCase(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        left.count == right.count && zip(left, right).allSatisfy { lowercased($0) == lowercased($1) }
    }

    /// The value of a hexadecimal digit of either case; `nil` for any other byte.
    public static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    /// Reads 1...19 decimal digits without sign or space; `nil` on anything else and beyond `Int.max`.
    ///
    /// Leading zeros are refused unless the number is a single `0`: offsets have one spelling.
    public static func decimal(_ bytes: some Collection<UInt8>) -> Int? {
        guard let first = bytes.first, bytes.count <= 19 else { return nil }
        if first == 0x30 && bytes.count > 1 { return nil }
        var value = 0
        for byte in bytes {
            guard isDigit(byte) else { return nil }
            let (product, overflowed) = value.multipliedReportingOverflow(by: 10)
            let (sum, carried) = product.addingReportingOverflow(Int(byte - 0x30))
            if overflowed || carried { return nil }
            value = sum
        }
        return value
    }

    /// Reads an optional minus sign and ``decimal(_:)``; `-0` is refused, and so is `Int.min`, whose magnitude is
    /// beyond `Int.max`.
    public static func signedDecimal(_ bytes: some Collection<UInt8>) -> Int? {
        guard bytes.first == UInt8(ascii: "-") else { return decimal(bytes) }
        guard let magnitude = decimal(bytes.dropFirst()), magnitude != 0 else { return nil }
        return -magnitude
    }

    /// How many bytes the decimal form of a number has, minus sign included.
    public static func decimalCount(_ value: Int) -> Int {
        var count = value < 0 ? 2 : 1
        var rest = value.magnitude / 10
        while rest > 0 {
            count += 1
            rest /= 10
        }
        return count
    }
}

extension Array where Element == UInt8 {
    /// Appends the decimal digits of a number without making a `String`.
    public mutating func append(decimal value: Int) {
        // Most are lengths of a few bytes.
        if value >= 0 && value < 100 {
            if value >= 10 { append(UInt8(truncatingIfNeeded: value / 10) + 0x30) }
            return append(UInt8(truncatingIfNeeded: value % 10) + 0x30)
        }
        if value < 0 { append(UInt8(ascii: "-")) }
        var (low, magnitude) = (count, value.magnitude)
        // The last digit first: dividing by a constant is a multiplication.
        repeat {
            append(UInt8(truncatingIfNeeded: magnitude % 10) + 0x30)
            magnitude /= 10
        } while magnitude > 0
        var high = count - 1
        while low < high {
            swapAt(low, high)
            (low, high) = (low + 1, high - 1)
        }
    }

    /// Appends the bytes of a literal.
    public mutating func append(text: StaticString) {
        text.withUTF8Buffer { unsafe append(contentsOf: $0) }
    }

    /// Appends the UTF-8 bytes of a string.
    ///
    /// A literal would be one by default, and is appended at two thirds of the cost as what it is.
    @_disfavoredOverload
    public mutating func append(text: String) {
        // The view of the characters is read one by one; the text's own bytes are copied at once.
        var text = text
        text.withUTF8 { unsafe append(contentsOf: $0) }
    }
}
