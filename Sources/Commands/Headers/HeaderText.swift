import Core

/// Splits the text of tags.
enum HeaderText {
    /// The bytes without the spaces at both ends.
    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = bytes.drop { $0 == UInt8(ascii: " ") }
        while rest.last == UInt8(ascii: " ") { rest.removeLast() }
        return rest
    }

    /// The text without the spaces at both ends.
    static func trimmed(_ text: some StringProtocol) -> String {
        String(decoding: trimmed(Array(text.utf8)[...]), as: UTF8.self)
    }

    /// The words between spaces.
    static func words(_ text: some StringProtocol) -> [String] {
        Array(text.utf8).split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The parts between commas, without the spaces around them; an empty part is kept, so that its reader can refuse
    /// it.
    static func list(_ text: some StringProtocol) -> [String] {
        Array(text.utf8).split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { part in
            String(decoding: trimmed(part), as: UTF8.self)
        }
    }

    /// The text before and after the first occurrence of a mark; `nil` when there is none.
    static func cut(_ text: some StringProtocol, at mark: String) -> (before: String, after: String)? {
        let (bytes, mark) = (Array(text.utf8), Array(mark.utf8))
        guard bytes.count >= mark.count else { return nil }
        for start in 0...(bytes.count - mark.count) where bytes[start...].starts(with: mark) {
            return (
                String(decoding: bytes[..<start], as: UTF8.self),
                String(decoding: bytes[(start + mark.count)...], as: UTF8.self)
            )
        }
        return nil
    }

    /// Whether the text is a lower-case letter followed by letters, digits and `_`, within a number of bytes.
    ///
    /// `capitals` also allows upper-case letters, but no `_`.
    static func isName(_ text: String, capitals: Bool = false, bytesMax: Int = 64) -> Bool {
        guard let first = text.utf8.first, ASCII.isLower(first), text.utf8.count <= bytesMax else { return false }
        return text.utf8.allSatisfy { byte in
            ASCII.isLower(byte) || ASCII.isDigit(byte) || (capitals ? ASCII.isUpper(byte) : byte == UInt8(ascii: "_"))
        }
    }

    /// Whether the text may name an argument on the wire: a lower-case letter, then letters, digits and `_`.
    static func isWireName(_ text: String) -> Bool {
        guard let first = text.utf8.first, ASCII.isLower(first), text.utf8.count <= 64 else { return false }
        return text.utf8.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "_") }
    }

    /// The words that Lua reserves: `args.end` would not compile.
    static let luaWords: Set<String> = [
        "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil",
        "not", "or", "repeat", "return", "then", "true", "until", "while",
    ]
}
