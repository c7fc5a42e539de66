/// Writing JSON text, and the escapes inside strings.
public enum JSONText {
    /// Decodes the escapes of a string's validated text (without its quotes).
    static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                result.append(byte)
                continue
            }
            guard let escape = rest.popFirst() else { return result }
            switch escape {
            case UInt8(ascii: "b"): result.append(0x08)
            case UInt8(ascii: "f"): result.append(0x0c)
            case UInt8(ascii: "n"): result.append(0x0a)
            case UInt8(ascii: "r"): result.append(0x0d)
            case UInt8(ascii: "t"): result.append(0x09)
            case UInt8(ascii: "u"):
                var scalar = popHex(&rest)
                if scalar >= 0xd800 && scalar <= 0xdbff {
                    rest = rest.dropFirst(2)
                    scalar = 0x10000 &+ (scalar &- 0xd800) << 10 &+ (popHex(&rest) &- 0xdc00)
                }
                if let unicode = Unicode.Scalar(scalar) { result.append(contentsOf: String(unicode).utf8) }
            default: result.append(escape)
            }
        }
        return result
    }

    private static func popHex(_ text: inout ArraySlice<UInt8>) -> UInt32 {
        var unit: UInt32 = 0
        for byte in text.prefix(4) { unit = unit << 4 | UInt32(ASCII.hexValue(byte) ?? 0) }
        text = text.dropFirst(4)
        return unit
    }
}

extension Array where Element == UInt8 {
    /// Appends a JSON string: quotes, and escapes for quotes, backslashes and control bytes.
    ///
    /// The bytes must be UTF-8.
    public mutating func append(jsonString text: some Sequence<UInt8>) {
        append(UInt8(ascii: "\""))
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(UInt8(ascii: "\\"))
                append(byte)
            case 0x0a: append(text: "\\n")
            case 0x0d: append(text: "\\r")
            case 0x09: append(text: "\\t")
            case 0..<0x20, 0x7f:
                append(text: "\\u00")
                append(hexDigits[Int(byte >> 4)])
                append(hexDigits[Int(byte & 15)])
            default: append(byte)
            }
        }
        append(UInt8(ascii: "\""))
    }

    /// Appends a JSON string of text.
    public mutating func append(jsonString text: String) {
        append(jsonString: text.utf8)
    }
}

private let hexDigits = Array("0123456789abcdef".utf8)
