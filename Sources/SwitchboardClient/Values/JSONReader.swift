/// Reads one JSON text (RFC 8259); `nil` for invalid JSON.
///
/// Nesting ends at 64 levels.
struct JSONReader {
    private static let depthMax = 64
    private let bytes: [UInt8]
    private var index = 0

    private init(_ text: String) { bytes = Array(text.utf8) }

    /// The value of a text.
    static func read(_ text: String) -> JSONValue? {
        var reader = JSONReader(text)
        guard let value = reader.value(0) else { return nil }
        reader.skipBlanks()
        return reader.index == reader.bytes.count ? value : nil
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { index += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipBlanks()
        guard next == byte else { return false }
        index += 1
        return true
    }

    private mutating func take(word: StaticString, _ value: JSONValue) -> JSONValue? {
        let letters = Array("\(word)".utf8)
        guard bytes.count - index >= letters.count, bytes[index..<index + letters.count].elementsEqual(letters) else {
            return nil
        }
        index += letters.count
        return value
    }

    private mutating func value(_ depth: Int) -> JSONValue? {
        skipBlanks()
        guard depth < JSONReader.depthMax, let byte = next else { return nil }
        switch byte {
        case UInt8(ascii: "{"): return object(depth)
        case UInt8(ascii: "["): return array(depth)
        case UInt8(ascii: "\""): return string().map { .string($0) }
        case UInt8(ascii: "t"): return take(word: "true", .bool(true))
        case UInt8(ascii: "f"): return take(word: "false", .bool(false))
        case UInt8(ascii: "n"): return take(word: "null", .null)
        default: return number()
        }
    }

    private mutating func object(_ depth: Int) -> JSONValue? {
        index += 1
        var members: [String: JSONValue] = [:]
        if take(UInt8(ascii: "}")) { return .object(members) }
        repeat {
            skipBlanks()
            guard next == UInt8(ascii: "\""), let name = string(), take(UInt8(ascii: ":")),
                let member = value(depth + 1)
            else { return nil }
            members[name] = member
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "}")) ? .object(members) : nil
    }

    private mutating func array(_ depth: Int) -> JSONValue? {
        index += 1
        var elements: [JSONValue] = []
        if take(UInt8(ascii: "]")) { return .array(elements) }
        repeat {
            guard let element = value(depth + 1) else { return nil }
            elements.append(element)
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "]")) ? .array(elements) : nil
    }

    private mutating func number() -> JSONValue? {
        let start = index
        while let byte = next, (0x30...0x39).contains(byte) || "+-.eE".utf8.contains(byte) { index += 1 }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        guard text.utf8.first != UInt8(ascii: "+") else { return nil }
        if let whole = Int64(text) { return .integer(whole) }
        return Double(text).map { .number($0) }
    }

    private mutating func string() -> String? {
        index += 1
        var out: [UInt8] = []
        while let byte = next {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: out, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let scalar = escape() else { return nil }
                out.append(contentsOf: Array(String(Character(scalar)).utf8))
            case 0..<0x20: return nil
            default: out.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> Unicode.Scalar? {
        guard let byte = next else { return nil }
        index += 1
        switch byte {
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "u"): return unicode()
        default: return nil
        }
    }

    /// The four digits after `\u`, and those of the second half of a surrogate pair.
    ///
    /// A half alone is U+FFFD.
    private mutating func unicode() -> Unicode.Scalar? {
        guard let first = digits() else { return nil }
        guard (0xd800..<0xdc00).contains(first) else { return Unicode.Scalar(first) ?? "\u{fffd}" }
        let back = index
        if take(word: "\\u", .null) != nil, let second = digits(), (0xdc00..<0xe000).contains(second) {
            return Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
        }
        index = back
        return "\u{fffd}"
    }

    private mutating func digits() -> UInt32? {
        guard bytes.count - index >= 4 else { return nil }
        let text = String(decoding: bytes[index..<index + 4], as: UTF8.self)
        index += 4
        return text.utf8.first == UInt8(ascii: "+") || text.utf8.first == UInt8(ascii: "-")
            ? nil : UInt32(text, radix: 16)
    }
}
