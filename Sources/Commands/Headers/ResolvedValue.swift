import Core

/// A value that the gateway reads before a script runs: `@resolve sessionId = user:{userId}#current else not_found`.
public struct ResolvedValue: Equatable, Sendable {
    /// The value's name in templates and in the body.
    public let name: String
    /// The key that holds it.
    public let key: Template
    /// The field of the hash at the key; `nil`: the key holds the value itself.
    public let field: String?
    /// The result when nothing is stored.
    public let absent: Absent

    /// The result when nothing is stored.
    public enum Absent: Equatable, Sendable {
        /// The call fails with this error and sentence.
        case refused(DeclaredError, String)
        /// The value is this id.
        case instead([UInt8])
    }

    /// Reads `NAME = TEMPLATE [FIELD] else CODE [STATUS] -- Sentence` or `... else = ID`.
    init(header text: String) throws(HeaderFault) {
        let example = "sessionId = user:{userId}#current else not_in_session 404 -- No active session."
        if let (before, instead) = HeaderText.cut(text, at: " else = ") {
            let id = Array(HeaderText.trimmed(instead).utf8)
            guard Topic.isID(id) else { throw HeaderFault("behind else = stands an id, e.g. else = none") }
            self = try ResolvedValue(words: HeaderText.words(before), .instead(id), example)
            return
        }
        guard let (before, after) = HeaderText.cut(text, at: " -- "), !HeaderText.trimmed(after).isEmpty else {
            throw HeaderFault("behind -- stands the sentence for a caller where there is none, e.g. " + example)
        }
        let words = HeaderText.words(before)
        guard let index = words.firstIndex(of: "else") else {
            throw HeaderFault("after the key, and perhaps a field of it, else says what is told where there is none")
        }
        let error = try DeclaredError(header: words[(index + 1)...].joined(separator: " "))
        let refused = Absent.refused(error, HeaderText.trimmed(after))
        self = try ResolvedValue(words: Array(words[..<index]), refused, example)
    }

    /// Reads the words before `else`.
    private init(words: [String], _ absent: Absent, _ example: String) throws(HeaderFault) {
        guard words.count >= 3, words[1] == "=" else { throw HeaderFault("expected " + example) }
        guard HeaderText.isName(words[0], capitals: true), !HeaderText.luaWords.contains(words[0]), words[0] != "id"
        else {
            throw HeaderFault(
                "a resolved value's name is a lower-case letter, then A-Z a-z 0-9, no word of Lua, not id")
        }
        name = words[0]
        key = try Template(key: words[2])
        guard words.count <= 4 else {
            throw HeaderFault("after the key, and perhaps a field of it, else says what is told where there is none")
        }
        field = words.count == 4 ? words[3] : nil
        if let field, !ResolvedValue.isField(field) {
            throw HeaderFault("a field is 1 to 64 of A-Z a-z 0-9 . _ -")
        }
        self.absent = absent
    }

    private static func isField(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || "._-".utf8.contains($0) }
    }
}
