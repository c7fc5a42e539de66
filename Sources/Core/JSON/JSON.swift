/// A validated JSON text with an index of its values.
///
/// Strict RFC 8259 plus what a hostile sender must not reach: bounded depth and element count, no duplicate member
/// names, valid UTF-8, no lone surrogate escapes, no byte after the value. It exists, rather than a library decoder,
/// because the hot path must splice the exact bytes of `data` and because token claims with duplicate names must be
/// refused; no decoder of the toolchain offers either (docs/decisions.md, D3).
public struct JSON: Sendable {
    /// What a text may hold at most.
    public struct Limits: Sendable {
        /// Levels of arrays and objects; a lone scalar has depth 0. Default 32.
        public var depthMax: Int
        /// Values in the whole text, member names not counted. Default 10,000.
        public var elementsMax: Int

        /// Makes limits.
        public init(depthMax: Int, elementsMax: Int) {
            self.depthMax = depthMax
            self.elementsMax = elementsMax
        }
    }

    /// What a value is.
    public enum Kind: Sendable {
        /// `{...}`
        case object
        /// `[...]`
        case array
        /// `"..."`
        case string
        /// A number; its exact digits are kept.
        case number
        /// `true`
        case yes
        /// `false`
        case no
        /// `null`
        case null
    }

    /// Why a text was refused.
    public enum Problem: String, Error, Sendable {
        /// Not JSON.
        case syntax = "not valid JSON"
        /// Nested beyond the limit.
        case tooDeep = "nested too deeply"
        /// More values than the limit.
        case tooManyElements = "too many values"
        /// One object names a member twice.
        case duplicateName = "a member name occurs twice in one object"
        /// Bytes that are not UTF-8.
        case invalidUTF8 = "not valid UTF-8"
    }

    /// One value: where its text lies and where the next value after it (past its children) is in the index.
    struct Entry: Sendable {
        var kind: Kind
        /// Whether the string or member name holds a backslash escape.
        var escaped: Bool
        /// First byte of the value's text; strings include their quotes.
        var start: Int
        /// One past the last byte.
        var end: Int
        /// Index of the first entry after this value and all its children.
        var next: Int
        /// Text of the member's name without quotes; empty range outside objects.
        var nameStart: Int
        var nameEnd: Int
        var nameEscaped: Bool
    }

    let bytes: [UInt8]
    let entries: [Entry]

    /// Validates a text. *Complexity*: linear in its length, and in each object's members for duplicates of short
    /// objects (hashed beyond 16).
    public init(parsing bytes: [UInt8], limits: Limits) throws(Problem) {
        var parser = JSONParser(bytes: bytes, limits: limits)
        try parser.parse()
        self.bytes = bytes
        self.entries = parser.entries
    }

    /// Where a text stops being acceptable: an index of the first byte that does not fit, or the count of bytes when the
    /// text ends too early; `nil` for an acceptable text. For messages to people: it reads the text again.
    public static func faultOffset(in bytes: [UInt8], limits: Limits) -> Int? {
        var parser = JSONParser(bytes: bytes, limits: limits)
        do {
            try parser.parse()
            return nil
        } catch {
            guard error == .invalidUTF8 else { return min(parser.position, bytes.count) }
            var text = UTF8Text()
            return bytes.firstIndex { !text.accept($0) } ?? bytes.count
        }
    }

    /// The outermost value.
    public var root: Value { Value(document: self, index: 0) }

    /// A value inside a validated text.
    public struct Value: Sendable {
        let document: JSON
        let index: Int

        private var entry: Entry { document.entries[index] }

        /// What the value is.
        public var kind: Kind { entry.kind }

        /// The value's exact text.
        public var raw: ArraySlice<UInt8> { document.bytes[entry.start..<entry.end] }

        /// The member of that name; `nil` when there is none or the value is no object.
        public subscript(name: String) -> Value? {
            guard entry.kind == .object else { return nil }
            for member in members where member.nameEquals(name) { return member }
            return nil
        }

        /// The values inside an object or array, in order; empty for scalars.
        public var members: Members { Members(document: document, index: index) }

        /// The member's name, decoded; empty for array elements and the root.
        public var name: String {
            let text = document.bytes[entry.nameStart..<entry.nameEnd]
            return String(decoding: entry.nameEscaped ? JSONText.unescaped(text) : Array(text), as: UTF8.self)
        }

        private func nameEquals(_ other: String) -> Bool {
            let text = document.bytes[entry.nameStart..<entry.nameEnd]
            return entry.nameEscaped ? JSONText.unescaped(text).elementsEqual(other.utf8) : text.elementsEqual(other.utf8)
        }

        /// A string's decoded UTF-8 bytes; `nil` for other kinds.
        public var stringBytes: [UInt8]? {
            guard entry.kind == .string else { return nil }
            let text = document.bytes[(entry.start + 1)..<(entry.end - 1)]
            return entry.escaped ? JSONText.unescaped(text) : Array(text)
        }

        /// A string's text; `nil` for other kinds.
        public var string: String? { stringBytes.map { String(decoding: $0, as: UTF8.self) } }

        /// An integer written without fraction or exponent and within `Int`; `nil` for anything else.
        public var int: Int? { entry.kind == .number ? ASCII.signedDecimal(raw) : nil }

        /// A finite number; `nil` for other kinds and for texts beyond `Double`.
        public var double: Double? {
            guard entry.kind == .number, let value = Double(String(decoding: raw, as: UTF8.self)), value.isFinite
            else { return nil }
            return value
        }

        /// A boolean; `nil` for other kinds.
        public var bool: Bool? {
            switch entry.kind {
            case .yes: true
            case .no: false
            default: nil
            }
        }
    }

    /// The values inside an object or array.
    public struct Members: Sequence, IteratorProtocol, Sendable {
        let document: JSON
        private var position: Int
        private let end: Int

        init(document: JSON, index: Int) {
            self.document = document
            self.position = index + 1
            let entry = document.entries[index]
            self.end = entry.kind == .object || entry.kind == .array ? entry.next : index + 1
        }

        /// The next value.
        public mutating func next() -> Value? {
            guard position < end else { return nil }
            let value = Value(document: document, index: position)
            position = document.entries[position].next
            return value
        }
    }
}
