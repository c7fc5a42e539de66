/// The recursive-descent validator behind ``JSON``; recursion is bounded by the depth limit.
///
/// The text is passed down as a span, so that a byte costs one bounds check and no reference counting. After the end
/// ``byte(_:)`` reads 0, which no rule of the grammar accepts: reading beyond the text is a syntax error everywhere.
struct JSONParser {
    private let limits: JSON.Limits
    private(set) var entries: [JSON.Entry] = []
    /// The byte read next; after a fault, the byte that did not fit.
    private(set) var position = 0

    init(limits: JSON.Limits) {
        self.limits = limits
    }

    mutating func parse(_ text: Span<UInt8>) throws(JSON.Problem) {
        // Entries store 32-bit places; earlier limits bound texts far below this.
        guard text.count < Int(UInt32.max) else { throw .tooManyElements }
        var utf8 = UTF8Text()
        guard utf8.accept(text) && utf8.isComplete else { throw .invalidUTF8 }
        entries.reserveCapacity(min(limits.elementsMax, text.count / 32 + 8))
        skipSpace(text)
        try value(text, depth: 0, name: .none)
        skipSpace(text)
        guard position == text.count else { throw .syntax }
    }

    /// A member's name: the text between its quotes.
    private struct Name {
        var start: UInt32
        var end: UInt32
        var escaped: Bool

        static let none = Name(start: 0, end: 0, escaped: false)
    }

    private func byte(_ text: Span<UInt8>) -> UInt8 {
        position < text.count ? text[position] : 0
    }

    /// The parser's position; it fits, since the length does.
    private var mark: UInt32 { UInt32(truncatingIfNeeded: position) }

    private mutating func skipSpace(_ text: Span<UInt8>) {
        while true {
            switch byte(text) {
            case 0x20, 0x0a, 0x0d, 0x09: position &+= 1
            default: return
            }
        }
    }

    // MARK: Values

    private mutating func value(_ text: Span<UInt8>, depth: Int, name: Name) throws(JSON.Problem) {
        guard entries.count < limits.elementsMax else { throw .tooManyElements }
        let start = mark
        switch byte(text) {
        case UInt8(ascii: "{"):
            let index = open(.object, name)
            let members = try object(text, depth: depth + 1)
            close(index)
            guard JSONNames.areDistinct(text, entries, of: index, count: members) else { throw .duplicateName }
        case UInt8(ascii: "["):
            let index = open(.array, name)
            try array(text, depth: depth + 1)
            close(index)
        case UInt8(ascii: "\""):
            let escaped = try string(text)
            add(.string, escaped: escaped, start, name)
        case UInt8(ascii: "t"):
            try literal(text, skipping: 0, 0x7472_7565)  // true
            add(.yes, escaped: false, start, name)
        case UInt8(ascii: "f"):
            try literal(text, skipping: 1, 0x616c_7365)  // f, alse
            add(.no, escaped: false, start, name)
        case UInt8(ascii: "n"):
            try literal(text, skipping: 0, 0x6e75_6c6c)  // null
            add(.null, escaped: false, start, name)
        default:
            try number(text)
            add(.number, escaped: false, start, name)
        }
    }

    /// Adds a value without children that ends here.
    private mutating func add(_ kind: JSON.Kind, escaped: Bool, _ start: UInt32, _ name: Name) {
        entries.append(
            JSON.Entry(
                start: start, end: mark, next: UInt32(truncatingIfNeeded: entries.count &+ 1),
                nameStart: name.start, nameEnd: name.end, kind: kind, escaped: escaped, nameEscaped: name.escaped))
    }

    /// Adds an object or array that begins here, and returns its index for ``close(_:)``.
    private mutating func open(_ kind: JSON.Kind, _ name: Name) -> Int {
        add(kind, escaped: false, mark, name)
        return entries.count &- 1
    }

    private mutating func close(_ index: Int) {
        entries[index].end = mark
        entries[index].next = UInt32(truncatingIfNeeded: entries.count)
    }

    /// Reads an object; returns the number of its members.
    private mutating func object(_ text: Span<UInt8>, depth: Int) throws(JSON.Problem) -> Int {
        guard depth <= limits.depthMax else { throw .tooDeep }
        position &+= 1
        skipSpace(text)
        if byte(text) == UInt8(ascii: "}") {
            position &+= 1
            return 0
        }
        var members = 0
        while true {
            guard byte(text) == UInt8(ascii: "\"") else { throw .syntax }
            let start = mark &+ 1
            let escaped = try string(text)
            let name = Name(start: start, end: mark &- 1, escaped: escaped)
            skipSpace(text)
            guard byte(text) == UInt8(ascii: ":") else { throw .syntax }
            position &+= 1
            skipSpace(text)
            try value(text, depth: depth, name: name)
            members &+= 1
            if try closed(text, by: UInt8(ascii: "}")) { return members }
        }
    }

    private mutating func array(_ text: Span<UInt8>, depth: Int) throws(JSON.Problem) {
        guard depth <= limits.depthMax else { throw .tooDeep }
        position &+= 1
        skipSpace(text)
        if byte(text) == UInt8(ascii: "]") {
            position &+= 1
            return
        }
        while true {
            try value(text, depth: depth, name: .none)
            if try closed(text, by: UInt8(ascii: "]")) { return }
        }
    }

    /// Reads the comma before another member and the space after it, or the closing bracket.
    private mutating func closed(_ text: Span<UInt8>, by bracket: UInt8) throws(JSON.Problem) -> Bool {
        skipSpace(text)
        let found = byte(text)
        guard found == bracket || found == UInt8(ascii: ",") else { throw .syntax }
        position &+= 1
        if found == bracket { return true }
        skipSpace(text)
        return false
    }

    /// Reads four letters, after `skipping` that are known already, and compares them with a big-endian word.
    private mutating func literal(
        _ text: Span<UInt8>, skipping known: Int, _ word: UInt32
    ) throws(JSON.Problem) {
        position &+= known
        var letters: UInt32 = 0
        for _ in 0..<4 {
            letters = letters << 8 | UInt32(byte(text))
            position &+= 1
        }
        guard letters == word else { throw .syntax }
    }

    // MARK: Strings

    /// Reads a string with its quotes; returns whether it contains an escape.
    private mutating func string(_ text: Span<UInt8>) throws(JSON.Problem) -> Bool {
        position &+= 1
        var escaped = false
        skipPlain(text)
        while position < text.count {
            let next = text[position]
            position &+= 1
            switch next {
            case UInt8(ascii: "\""):
                return escaped
            case UInt8(ascii: "\\"):
                escaped = true
                try escape(text)
                skipPlain(text)
            case 0..<0x20:
                position -= 1
                throw .syntax
            default:
                break
            }
        }
        throw .syntax
    }

    /// Skips steps of 16 bytes of which none ends the string, begins an escape, or is refused.
    private mutating func skipPlain(_ text: Span<UInt8>) {
        while position &+ 16 <= text.count {
            // The range is checked once per step. Without a branch, the compiler computes the 16 bytes as one vector:
            // the highest bit becomes 1 for a quote, for a backslash, and for bytes below 0x20.
            let step = text.extracting(position..<(position &+ 16))
            var special: UInt8 = 0
            for offset in 0..<16 {
                let byte = step[offset]
                let (quote, backslash) = (byte ^ 0x22, byte ^ 0x5c)
                special |= (quote &- 1) & ~quote | (backslash &- 1) & ~backslash | (byte &- 0x20) & ~byte
            }
            if special >= 0x80 { return }
            position &+= 16
        }
    }

    private mutating func escape(_ text: Span<UInt8>) throws(JSON.Problem) {
        let escape = byte(text)
        position &+= 1
        switch escape {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return
        case UInt8(ascii: "u"):
            let unit = try hexUnit(text)
            // Surrogates come in pairs, high then low (RFC 8259 section 7), or they encode nothing.
            if unit >= 0xdc00 && unit <= 0xdfff { throw .syntax }
            guard unit >= 0xd800 && unit <= 0xdbff else { return }
            guard byte(text) == UInt8(ascii: "\\") else { throw .syntax }
            position &+= 1
            guard byte(text) == UInt8(ascii: "u") else { throw .syntax }
            position &+= 1
            let low = try hexUnit(text)
            guard low >= 0xdc00 && low <= 0xdfff else { throw .syntax }
        default:
            throw .syntax
        }
    }

    private mutating func hexUnit(_ text: Span<UInt8>) throws(JSON.Problem) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = ASCII.hexValue(byte(text)) else { throw .syntax }
            unit = unit << 4 | UInt32(digit)
            position &+= 1
        }
        return unit
    }

    // MARK: Numbers

    private mutating func number(_ text: Span<UInt8>) throws(JSON.Problem) {
        if byte(text) == UInt8(ascii: "-") { position &+= 1 }
        if byte(text) == UInt8(ascii: "0") {
            position &+= 1
        } else {
            try digits(text)
        }
        if byte(text) == UInt8(ascii: ".") {
            position &+= 1
            try digits(text)
        }
        if byte(text) | 0x20 == UInt8(ascii: "e") {
            position &+= 1
            let sign = byte(text)
            if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position &+= 1 }
            try digits(text)
        }
    }

    private mutating func digits(_ text: Span<UInt8>) throws(JSON.Problem) {
        guard ASCII.isDigit(byte(text)) else { throw .syntax }
        repeat { position &+= 1 } while ASCII.isDigit(byte(text))
    }
}
