/// A validated JSON text with an index of its values.
///
/// Strict RFC 8259, with limits against hostile senders: bounded depth and element count, no duplicate member names. It
/// also demands valid UTF-8, no lone surrogate escapes, and no byte after the value. It exists, rather than a library
/// decoder, for two reasons that no decoder of the toolchain meets (docs/decisions.md, D3). The hot path must insert
/// the exact bytes of `data`, and token claims with duplicate names must be refused.
public struct JSON: Sendable {
    /// The limits of a text.
    public struct Limits: Sendable {
        /// Levels of arrays and objects; a lone scalar has depth 0.
        ///
        /// Default 32.
        public var depthMax: Int
        /// Values in the whole text, member names not counted.
        ///
        /// Default 10,000.
        public var elementsMax: Int

        /// Makes limits.
        public init(depthMax: Int, elementsMax: Int) {
            self.depthMax = depthMax
            self.elementsMax = elementsMax
        }
    }

    /// The kind of a value.
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

    /// The reason why a text was refused.
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

    /// One value: the place of its text, and the index of the next value after it and its children.
    struct Entry: Sendable {
        /// First byte of the value's text; strings include their quotes.
        var start: UInt32
        /// One past the last byte.
        var end: UInt32
        /// Index of the first entry after this value and all its children.
        var next: UInt32
        /// Text of the member's name without quotes; empty range outside objects.
        var nameStart: UInt32
        var nameEnd: UInt32
        var kind: Kind
        /// Whether the string holds a backslash escape.
        var escaped: Bool
        /// Whether the member's name holds one.
        var nameEscaped: Bool

        /// The place of the value's text.
        var range: Range<Int> { Int(start)..<Int(end) }
        /// The place of the name's text.
        var nameRange: Range<Int> { Int(nameStart)..<Int(nameEnd) }
    }

    let bytes: [UInt8]
    let entries: [Entry]

    /// Validates a text.
    ///
    /// *Complexity*: linear in its length; objects of more than a dozen members are checked for duplicate names by
    /// hashing.
    public init(parsing bytes: [UInt8], limits: Limits) throws(Problem) {
        var parser = JSONParser(limits: limits)
        try parser.parse(bytes.span)
        self.bytes = bytes
        self.entries = parser.entries
    }

    /// The line of the first byte that is not acceptable, from 1; the last one when the text ends too early.
    ///
    /// For messages to people: it reads the text again.
    public static func faultLine(in bytes: [UInt8], limits: Limits) -> Int {
        var parser = JSONParser(limits: limits)
        var offset = 0
        do {
            try parser.parse(bytes.span)
        } catch {
            var text = UTF8Text()
            let position = error == .invalidUTF8 ? bytes.firstIndex { !text.accept($0) } : parser.position
            offset = min(position ?? bytes.count, bytes.count)
        }
        return 1 + bytes.prefix(offset).count { $0 == UInt8(ascii: "\n") }
    }

    /// Whether the entry at an index bears a name.
    private func isNamed(_ index: Int, _ name: String) -> Bool {
        let entry = entries[index]
        let text = bytes[entry.nameRange]
        if entry.nameEscaped { return JSONText.unescaped(text).elementsEqual(name.utf8) }
        guard text.count == name.utf8.count else { return false }
        let (given, wanted) = (text.span, name.utf8Span.span)
        for index in wanted.indices where given[index] != wanted[index] { return false }
        return true
    }

    /// The outermost value.
    public var root: Value { Value(document: self, index: 0) }

    /// A value inside a validated text.
    public struct Value: Sendable {
        let document: JSON
        let index: Int

        private var entry: Entry { document.entries[index] }

        /// The kind of the value.
        public var kind: Kind { entry.kind }

        /// The line on which the value begins, from 1; for messages to people: it counts from the text's beginning.
        public var line: Int { 1 + document.bytes.prefix(entry.range.lowerBound).count { $0 == UInt8(ascii: "\n") } }

        /// The value's exact text.
        public var raw: ArraySlice<UInt8> { document.bytes[entry.range] }

        /// The member of that name; `nil` when there is none or the value is no object.
        public subscript(name: String) -> Value? {
            let entry = entry
            guard entry.kind == .object else { return nil }
            // The members that do not bear the name are passed without a value of each, which would count references.
            var position = index + 1
            while position < Int(entry.next) {
                if document.isNamed(position, name) { return Value(document: document, index: position) }
                position = Int(document.entries[position].next)
            }
            return nil
        }

        /// Whether the value is a member of that name.
        public func isNamed(_ name: String) -> Bool { document.isNamed(index, name) }

        /// The values inside an object or array, in order; empty for scalars.
        public var members: Members { Members(document: document, index: index) }

        /// The member's name, decoded; empty for array elements and the root.
        public var name: String { String(decoding: nameBytes, as: UTF8.self) }

        /// The member's name as UTF-8 bytes, decoded; empty for array elements and the root.
        public var nameBytes: [UInt8] {
            let text = document.bytes[entry.nameRange]
            return entry.nameEscaped ? JSONText.unescaped(text) : Array(text)
        }

        /// A string's decoded UTF-8 bytes; `nil` for other kinds.
        public var stringBytes: [UInt8]? {
            guard entry.kind == .string else { return nil }
            let text = raw.dropFirst().dropLast()
            return entry.escaped ? JSONText.unescaped(text) : Array(text)
        }

        /// A string's text; `nil` for other kinds.
        public var string: String? { stringBytes.map { String(decoding: $0, as: UTF8.self) } }

        /// An integer written without fraction or exponent, `-Int.max...Int.max`; `nil` for anything else.
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
            self.end = Int(entry.next)
        }

        /// The next value.
        public mutating func next() -> Value? {
            guard position < end else { return nil }
            let value = Value(document: document, index: position)
            position = Int(document.entries[position].next)
            return value
        }
    }
}
