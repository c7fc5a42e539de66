import Core

/// Replaces what has the form of a token, and values behind words such as `token=` and `Bearer`.
enum TokenRedaction {
    /// Bytes of the parts of a token: header, claims and signature.
    private static let parts = (header: 8, claims: 4, signature: 16)

    /// The text with `***` in place of tokens; unless it `isWhole`, a token may be cut at its end.
    static func text(_ text: [UInt8], isWhole: Bool) -> [UInt8] {
        var made: [UInt8] = []
        made.reserveCapacity(text.count)
        var place = 0
        while place < text.count {
            guard isOfToken(text[place]) else {
                made.append(text[place])
                place += 1
                continue
            }
            let end = text[place...].firstIndex { !isOfToken($0) } ?? text.count
            let word = text[place..<end]
            if isToken(word, isCut: !isWhole && end == text.count) {
                made += "***".utf8
                place = end
                continue
            }
            made += word
            place = end
            if let value = value(behind: word, in: text, at: end) {
                made += text[end..<value.lowerBound] + Array("***".utf8)
                place = value.upperBound
            }
        }
        return made
    }

    /// The place of a credential behind `word=`, or behind `Bearer` and a space; `nil` for any other word.
    private static func value(behind word: ArraySlice<UInt8>, in text: [UInt8], at end: Int) -> Range<Int>? {
        guard end < text.count else { return nil }
        let isBearer = word.count == 6 && word.map { $0 | 0x20 }.elementsEqual("bearer".utf8)
        let isSet = text[end] == UInt8(ascii: "=") && WireRedaction.isSecret(word)
        guard isSet || (isBearer && text[end] == UInt8(ascii: " ")) else { return nil }
        let last = text[(end + 1)...].firstIndex { $0 <= UInt8(ascii: " ") || "&\"';,\\".utf8.contains($0) }
        return end + 1 < (last ?? text.count) ? (end + 1)..<(last ?? text.count) : nil
    }

    /// Whether a word is a token: three parts, the last of which is long.
    private static func isToken(_ word: ArraySlice<UInt8>, isCut: Bool) -> Bool {
        let found = word.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if isCut, found[0].count >= parts.header, found.count > 1 || word.starts(with: "ey".utf8) { return true }
        guard found.count >= 3 else { return false }
        return (0...(found.count - 3)).contains { first in
            found[first].count >= parts.header && found[first + 1].count >= parts.claims
                && found[first + 2].count >= parts.signature
        }
    }

    private static func isOfToken(_ byte: UInt8) -> Bool {
        ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: ".")
    }
}
