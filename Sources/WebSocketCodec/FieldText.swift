import Core

/// The small grammar of header values that a handshake needs (RFC 9110 sections 5.6.1 to 5.6.3).
enum FieldText {
    /// The value without spaces and tabs at its ends.
    static func trimmed(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let first = value.firstIndex(where: { !isBlank($0) }),
            let last = value.lastIndex(where: { !isBlank($0) })
        else { return value.prefix(0) }
        return value[first...last]
    }

    /// The elements of a comma-separated list that may span several field lines; empty elements are skipped.
    static func elements(_ lines: [[UInt8]]) -> [ArraySlice<UInt8>] {
        lines.flatMap { line in
            line.split(separator: UInt8(ascii: ",")).map(trimmed).filter { !$0.isEmpty }
        }
    }

    /// The parts between separators, trimmed; a separator inside a quoted string is none (RFC 9110 section 5.6.4).
    static func split(_ value: ArraySlice<UInt8>, at separator: UInt8) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        var start = value.startIndex
        var (isQuoted, isEscaped) = (false, false)
        for (index, byte) in zip(value.indices, value) {
            if isEscaped {
                isEscaped = false
            } else if isQuoted, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if !isQuoted, byte == separator {
                parts.append(trimmed(value[start..<index]))
                start = index + 1
            }
        }
        parts.append(trimmed(value[start...]))
        return parts
    }

    /// Whether a list contains a word, letters compared without case.
    static func list(_ lines: [[UInt8]], holds word: StaticString) -> Bool {
        let word = bytes(word)
        return elements(lines).contains { ASCII.equalIgnoringCase($0, word) }
    }

    /// Whether the bytes are one token: letters, digits and the marks of RFC 9110 section 5.6.2.
    static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || marks.contains($0) }
    }

    /// Whether the bytes may be a field value to send: visible ASCII, spaces and tabs.
    static func isFieldValue(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.allSatisfy { isVisible($0) || isBlank($0) }
    }

    /// `!`...`~`.
    static func isVisible(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7f }

    /// The bytes of a literal.
    static func bytes(_ text: StaticString) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(text: text)
        return bytes
    }

    private static let marks = bytes("!#$%&'*+-.^_`|~")

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
