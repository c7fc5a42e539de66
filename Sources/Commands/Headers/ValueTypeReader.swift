import Core

/// Reads a type such as `{trackId: string, next: int|null, tracks: [track]}` from the text of a tag.
struct ValueTypeReader {
    private let bytes: [UInt8]
    private var place = 0
    /// The first member without a type.
    private(set) var untyped: String?

    /// The most levels of brackets; no answer of a script has more.
    private static let depthMax = 16
    private static let example = "e.g. {trackId: string, next: int|null, tracks: [track]}"

    init(_ text: String) { bytes = Array(text.utf8) }

    /// Whether a bracket of the text has no end yet, so that the next line of the header goes on with it.
    static func isOpen(_ text: String) -> Bool {
        var depth = 0
        var isQuoted = false
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "'"): isQuoted.toggle()
            case UInt8(ascii: "{") where !isQuoted, UInt8(ascii: "[") where !isQuoted: depth += 1
            case UInt8(ascii: "}") where !isQuoted, UInt8(ascii: "]") where !isQuoted:
                depth -= 1
                // The type may have ended, and prose may follow.
                if depth <= 0 { return false }
            default: break
            }
        }
        return depth > 0
    }

    /// The type that stands next.
    mutating func type() throws(HeaderFault) -> ValueType { try type(depth: 0) }

    /// The text behind `--`, the one thing that may follow a type; empty without one.
    mutating func text() throws(HeaderFault) -> String {
        skipSpaces()
        let rest = bytes[place...]
        guard !rest.isEmpty else { return "" }
        guard rest.starts(with: "--".utf8) else {
            throw fault("expected the end, or -- and a text, not " + word(rest))
        }
        return HeaderText.trimmed(String(decoding: rest.dropFirst(2), as: UTF8.self))
    }

    // MARK: Types

    private mutating func type(depth: Int) throws(HeaderFault) -> ValueType {
        var types = [try one(depth)]
        while take("|") { types.append(try one(depth)) }
        guard types.count > 1 else { return types[0] }
        if let twice = types.first(where: { type in types.count { $0 == type } > 1 }) {
            throw fault("\(twice) is given twice")
        }
        return .union(types)
    }

    private mutating func one(_ depth: Int) throws(HeaderFault) -> ValueType {
        guard depth < ValueTypeReader.depthMax else {
            throw fault("more than \(ValueTypeReader.depthMax) levels of brackets")
        }
        if take("{") { return try object(depth + 1) }
        if take("[") {
            let element = try type(depth: depth + 1)
            guard take("]") else { throw fault("expected ] behind \(element), not " + here) }
            return .list(element)
        }
        if take("'") { return .literal(try literal()) }
        guard let name = name() else {
            throw fault("expected a type, \(ValueTypeReader.example), not " + here)
        }
        if let type = ValueType(word: name) { return type }
        guard HeaderText.isName(name) else {
            throw fault("\(name) is no type" + NearestName.hint(ValueType.words, to: name))
        }
        return .named(name)
    }

    /// The text of a literal up to its closing quote.
    private mutating func literal() throws(HeaderFault) -> String {
        let text = bytes[place...].prefix { $0 != UInt8(ascii: "'") && $0 != UInt8(ascii: "\n") }
        place = text.endIndex
        guard bytes[place...].first == UInt8(ascii: "'"), !text.isEmpty else {
            throw fault("a text such as 'up' stands between two quotes, and is not empty")
        }
        place += 1
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func object(_ depth: Int) throws(HeaderFault) -> ValueType {
        var members: [ValueType.Member] = []
        if take("}") { return .object(members: [], others: nil) }
        while true {
            if take("*") {
                guard take(":") else { throw fault("expected * and a type, e.g. {*: int}, not " + here) }
                let others = try type(depth: depth)
                guard take("}") else { throw fault("expected } behind *: \(others), not " + here) }
                return .object(members: members, others: others)
            }
            let member = try member(depth)
            if members.contains(where: { $0.name == member.name }) { throw fault("\(member.name) is given twice") }
            members.append(member)
            if take("}") { return .object(members: members, others: nil) }
            guard take(",") else { throw fault("expected , or } behind \(member.name), not " + here) }
        }
    }

    private mutating func member(_ depth: Int) throws(HeaderFault) -> ValueType.Member {
        guard let name = name() else {
            throw fault("expected the name of a member, \(ValueTypeReader.example), not " + here)
        }
        let isOptional = take("?")
        guard take(":") else {
            untyped = untyped ?? name
            return ValueType.Member(name: name, type: .any, isOptional: isOptional)
        }
        return ValueType.Member(name: name, type: try type(depth: depth), isOptional: isOptional)
    }

    // MARK: Bytes

    private mutating func skipSpaces() {
        while place < bytes.count, bytes[place] == UInt8(ascii: " ") || bytes[place] == UInt8(ascii: "\n") {
            place += 1
        }
    }

    /// Takes a mark, when it stands next.
    private mutating func take(_ mark: Unicode.Scalar) -> Bool {
        skipSpaces()
        guard place < bytes.count, bytes[place] == UInt8(ascii: mark) else { return false }
        place += 1
        return true
    }

    private mutating func name() -> String? {
        skipSpaces()
        let isWord = { (byte: UInt8) in ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "_") }
        let found = bytes[place...].prefix(while: isWord)
        guard let first = found.first, !ASCII.isDigit(first) else { return nil }
        place = found.endIndex
        return String(decoding: found, as: UTF8.self)
    }

    /// The word that stands next, for messages.
    private var here: String { word(bytes[place...]) }

    private func word(_ rest: ArraySlice<UInt8>) -> String {
        let word = rest.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\n") }
        return word.isEmpty ? "the end" : PrintableText.quoted(String(decoding: word.prefix(40), as: UTF8.self))
    }

    /// A fault on the line that the reader has reached.
    private func fault(_ message: String) -> HeaderFault {
        HeaderFault(message, linesBelow: bytes[..<place].count { $0 == UInt8(ascii: "\n") })
    }
}
