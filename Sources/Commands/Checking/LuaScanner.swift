import Core

/// Cuts Lua text into tokens, as far as a check of names needs it (Lua 5.1, section 2.1 of its manual).
///
/// Text that is no valid Lua is skipped: Redis reports why a script does not compile.
struct LuaScanner {
    /// The kind of a token.
    enum Kind: Equatable {
        /// A name or a word of Lua.
        case name
        /// A string in quotes or long brackets, without these; its escapes are kept.
        case text
        /// Anything else: one byte, or a number.
        case mark
    }

    /// A piece of the text.
    struct Token: Equatable {
        let kind: Kind
        let text: String
        /// The line it begins on, from 1.
        let line: Int
        /// The index of its first byte in the text.
        let start: Int
    }

    private let bytes: [UInt8]
    private var index = 0
    private var line = 1

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The tokens of a text, without space and comments.
    static func tokens(_ bytes: [UInt8]) -> [Token] {
        var scanner = LuaScanner(bytes)
        var tokens: [Token] = []
        while let token = scanner.next() { tokens.append(token) }
        return tokens
    }

    private func byte(_ offset: Int = 0) -> UInt8? {
        bytes.indices.contains(index + offset) ? bytes[index + offset] : nil
    }

    private mutating func step() {
        if byte() == UInt8(ascii: "\n") { line += 1 }
        index += 1
    }

    private mutating func next() -> Token? {
        skipSpace()
        guard let first = byte() else { return nil }
        let (start, startLine) = (index, line)
        func token(_ kind: Kind, _ text: ArraySlice<UInt8>) -> Token {
            Token(kind: kind, text: String(decoding: text, as: UTF8.self), line: startLine, start: start)
        }
        if ASCII.isLetter(first) || first == UInt8(ascii: "_") {
            while let next = byte(), ASCII.isLetter(next) || ASCII.isDigit(next) || next == UInt8(ascii: "_") { step() }
            return token(.name, bytes[start..<index])
        }
        if ASCII.isDigit(first) {
            while let next = byte(), ASCII.isLetter(next) || ASCII.isDigit(next) || next == UInt8(ascii: ".") { step() }
            return token(.mark, bytes[start..<index])
        }
        if first == UInt8(ascii: "'") || first == UInt8(ascii: "\"") { return token(.text, quoted(first)) }
        if let text = longBracket() { return token(.text, text) }
        step()
        return token(.mark, bytes[start..<index])
    }

    private mutating func skipSpace() {
        while let next = byte() {
            if next == UInt8(ascii: "-") && byte(1) == UInt8(ascii: "-") {
                index += 2
                if longBracket() == nil {
                    while let next = byte(), next != UInt8(ascii: "\n") { step() }
                }
            } else if next <= UInt8(ascii: " ") {
                step()
            } else {
                return
            }
        }
    }

    private mutating func quoted(_ mark: UInt8) -> ArraySlice<UInt8> {
        step()
        let start = index
        // A quoted string ends at the end of its line at the latest; Redis reports that it is unfinished.
        while let next = byte(), next != mark, next != UInt8(ascii: "\n") {
            if next == UInt8(ascii: "\\") { step() }
            step()
        }
        let end = min(index, bytes.count)
        step()
        return bytes[min(start, end)..<end]
    }

    /// Takes `[[...]]` or `[=[...]=]`; returns `nil` and takes nothing when there is none at this place.
    private mutating func longBracket() -> ArraySlice<UInt8>? {
        guard byte() == UInt8(ascii: "[") else { return nil }
        var level = 0
        while byte(1 + level) == UInt8(ascii: "=") { level += 1 }
        guard byte(1 + level) == UInt8(ascii: "[") else { return nil }
        index += level + 2
        let start = index
        let close = [UInt8(ascii: "]")] + Array(repeating: UInt8(ascii: "="), count: level) + [UInt8(ascii: "]")]
        while index < bytes.count && !bytes[index...].starts(with: close) { step() }
        let end = min(index, bytes.count)
        index += close.count
        return bytes[start..<end]
    }
}
