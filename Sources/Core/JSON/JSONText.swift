/// Writing JSON text, and the escapes inside strings.
public enum JSONText {
    /// Decodes the escapes of a string's validated text (without its quotes).
    static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            index += 1
            guard byte == UInt8(ascii: "\\") else {
                result.append(byte)
                continue
            }
            guard index < text.endIndex else { return result }
            let escape = text[index]
            index += 1
            switch escape {
            case UInt8(ascii: "b"): result.append(0x08)
            case UInt8(ascii: "f"): result.append(0x0c)
            case UInt8(ascii: "n"): result.append(0x0a)
            case UInt8(ascii: "r"): result.append(0x0d)
            case UInt8(ascii: "t"): result.append(0x09)
            case UInt8(ascii: "u"): result.append(scalar: scalar(text, &index))
            default: result.append(escape)
            }
        }
        return result
    }

    /// Reads the digits after `\u`, and the second half of a surrogate pair.
    private static func scalar(_ text: ArraySlice<UInt8>, _ index: inout Int) -> UInt32 {
        let unit = hexUnit(text, &index)
        guard unit >= 0xd800 && unit <= 0xdbff else { return unit }
        index += 2
        let low = hexUnit(text, &index)
        return 0x10000 &+ (unit &- 0xd800) << 10 &+ (low &- 0xdc00)
    }

    private static func hexUnit(_ text: ArraySlice<UInt8>, _ index: inout Int) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 where index < text.endIndex {
            unit = unit << 4 | UInt32(ASCII.hexValue(text[index]) ?? 0)
            index += 1
        }
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

    /// Appends the UTF-8 form of a code point; nothing for an invalid value.
    fileprivate mutating func append(scalar value: UInt32) {
        guard let scalar = Unicode.Scalar(value), let encoded = UTF8.encode(scalar) else { return }
        append(contentsOf: encoded)
    }

    /// Appends a JSON string of text.
    public mutating func append(jsonString text: String) {
        append(jsonString: text.utf8)
    }

    /// Appends the name of an object's next member; a comma goes before each but the first.
    public mutating func append(member name: StaticString) {
        append(text: last == UInt8(ascii: "{") ? "\"" : ",\"" as StaticString)
        append(text: name)
        append(text: "\":" as StaticString)
    }

    /// Appends a member that is a string; its bytes must be UTF-8.
    public mutating func append(member name: StaticString, string: some Sequence<UInt8>) {
        append(member: name)
        append(jsonString: string)
    }

    /// Appends a member that is a string.
    public mutating func append(member name: StaticString, string: String) {
        append(member: name, string: string.utf8)
    }

    /// Appends a member that is a whole number.
    public mutating func append(member name: StaticString, number: Int) {
        append(member: name)
        append(decimal: number)
    }

    /// Appends a member with a number, or null.
    public mutating func append(member name: StaticString, numberOrNull number: Int?) {
        append(member: name)
        if let number { append(decimal: number) } else { append(text: "null" as StaticString) }
    }

    /// Appends a member that is a string of UTF-8, or `null` without one.
    public mutating func append(member name: StaticString, stringOrNull string: (some Sequence<UInt8>)?) {
        append(member: name)
        if let string { append(jsonString: string) } else { append(text: "null" as StaticString) }
    }

    /// Appends a member whose value is JSON already.
    public mutating func append(member name: StaticString, json: some Sequence<UInt8>) {
        append(member: name)
        append(contentsOf: json)
    }

    /// Appends a JSON array; `write` appends each element.
    public mutating func append<Item>(
        arrayOf items: some Sequence<Item>, _ write: (_ text: inout [UInt8], _ item: Item) -> Void
    ) {
        append(UInt8(ascii: "["))
        for (index, item) in items.enumerated() {
            if index > 0 { append(UInt8(ascii: ",")) }
            write(&self, item)
        }
        append(UInt8(ascii: "]"))
    }
}

private let hexDigits = Array("0123456789abcdef".utf8)
