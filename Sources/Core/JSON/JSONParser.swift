/// The recursive-descent validator behind ``JSON``; recursion is bounded by the depth limit.
struct JSONParser {
    let bytes: [UInt8]
    let limits: JSON.Limits
    var entries: [JSON.Entry] = []
    /// The byte read next; after a fault, the byte that did not fit.
    private(set) var position = 0

    init(bytes: [UInt8], limits: JSON.Limits) {
        self.bytes = bytes
        self.limits = limits
    }

    mutating func parse() throws(JSON.Problem) {
        guard UTF8Text.isValid(bytes) else { throw .invalidUTF8 }
        skipSpace()
        try value(depth: 0, name: (0, 0, false))
        skipSpace()
        guard position == bytes.count else { throw .syntax }
    }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { position += 1 }
    }

    private mutating func value(depth: Int, name: (Int, Int, Bool)) throws(JSON.Problem) {
        guard entries.count < limits.elementsMax else { throw .tooManyElements }
        guard let byte = current else { throw .syntax }
        let index = entries.count
        entries.append(
            JSON.Entry(
                kind: .null, escaped: false, start: position, end: position, next: index + 1,
                nameStart: name.0, nameEnd: name.1, nameEscaped: name.2))
        switch byte {
        case UInt8(ascii: "{"):
            entries[index].kind = .object
            try object(index: index, depth: depth + 1)
        case UInt8(ascii: "["):
            entries[index].kind = .array
            try array(depth: depth + 1)
        case UInt8(ascii: "\""):
            entries[index].kind = .string
            entries[index].escaped = try string()
        case UInt8(ascii: "t"):
            entries[index].kind = .yes
            try literal("true")
        case UInt8(ascii: "f"):
            entries[index].kind = .no
            try literal("false")
        case UInt8(ascii: "n"):
            try literal("null")
        default:
            entries[index].kind = .number
            try number()
        }
        entries[index].end = position
        entries[index].next = entries.count
    }

    private mutating func object(index: Int, depth: Int) throws(JSON.Problem) {
        guard depth <= limits.depthMax else { throw .tooDeep }
        var names = NameSet()
        position += 1
        skipSpace()
        if current == UInt8(ascii: "}") {
            position += 1
            return
        }
        while true {
            skipSpace()
            guard current == UInt8(ascii: "\"") else { throw .syntax }
            let start = position + 1
            let escaped = try string()
            let end = position - 1
            let name = escaped ? JSONText.unescaped(bytes[start..<end]) : Array(bytes[start..<end])
            guard names.insert(name) else { throw .duplicateName }
            skipSpace()
            guard current == UInt8(ascii: ":") else { throw .syntax }
            position += 1
            skipSpace()
            try value(depth: depth, name: (start, end, escaped))
            skipSpace()
            if try closed(by: UInt8(ascii: "}")) { return }
        }
    }

    private mutating func array(depth: Int) throws(JSON.Problem) {
        guard depth <= limits.depthMax else { throw .tooDeep }
        position += 1
        skipSpace()
        if current == UInt8(ascii: "]") {
            position += 1
            return
        }
        while true {
            skipSpace()
            try value(depth: depth, name: (0, 0, false))
            skipSpace()
            if try closed(by: UInt8(ascii: "]")) { return }
        }
    }

    /// Reads the comma before another member, or the closing bracket.
    private mutating func closed(by bracket: UInt8) throws(JSON.Problem) -> Bool {
        guard let byte = current, byte == bracket || byte == UInt8(ascii: ",") else { throw .syntax }
        position += 1
        return byte == bracket
    }

    private mutating func literal(_ text: StaticString) throws(JSON.Problem) {
        let word = Array(text.description.utf8)
        guard bytes[position...].starts(with: word) else { throw .syntax }
        position += word.count
    }

    /// Reads a string with its quotes; tells whether it holds an escape.
    private mutating func string() throws(JSON.Problem) -> Bool {
        position += 1
        var escaped = false
        while let byte = current {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                return escaped
            case UInt8(ascii: "\\"):
                escaped = true
                try escape()
            case 0..<0x20:
                position -= 1
                throw .syntax
            default:
                break
            }
        }
        throw .syntax
    }

    private mutating func escape() throws(JSON.Problem) {
        guard let byte = current else { throw .syntax }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return
        case UInt8(ascii: "u"):
            let unit = try hexUnit()
            if unit >= 0xdc00 && unit <= 0xdfff { throw .syntax }
            guard unit >= 0xd800 && unit <= 0xdbff else { return }
            guard current == UInt8(ascii: "\\") else { throw .syntax }
            position += 1
            guard current == UInt8(ascii: "u") else { throw .syntax }
            position += 1
            let low = try hexUnit()
            guard low >= 0xdc00 && low <= 0xdfff else { throw .syntax }
        default:
            throw .syntax
        }
    }

    private mutating func hexUnit() throws(JSON.Problem) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = current, let digit = ASCII.hexValue(byte) else { throw .syntax }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }

    private mutating func number() throws(JSON.Problem) {
        if current == UInt8(ascii: "-") { position += 1 }
        if current == UInt8(ascii: "0") {
            position += 1
        } else {
            try digits()
        }
        if current == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        if let byte = current, byte | 0x20 == UInt8(ascii: "e") {
            position += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
    }

    private mutating func digits() throws(JSON.Problem) {
        guard let first = current, ASCII.isDigit(first) else { throw .syntax }
        while let byte = current, ASCII.isDigit(byte) { position += 1 }
    }
}

/// The names seen in one object: a short list first, a hashed set beyond 16, so that neither small objects pay for
/// hashing nor large ones for quadratic comparison.
private struct NameSet {
    private var few: [[UInt8]] = []
    private var many: Set<[UInt8]> = []

    /// Adds a name; false when it was there.
    mutating func insert(_ name: [UInt8]) -> Bool {
        if few.count < 16 {
            guard !few.contains(name) else { return false }
            few.append(name)
            return true
        }
        if many.isEmpty { many = Set(few) }
        return many.insert(name).inserted
    }
}
