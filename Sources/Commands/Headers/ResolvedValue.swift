import Core

/// A value that the gateway reads before a script runs: `@resolve sessionId = user:{userId}#current else not_found`.
public struct ResolvedValue: Equatable, Sendable {
    /// What templates and the body call it.
    public let name: String
    /// The key that holds it.
    public let key: Template
    /// The field of the hash under the key; `nil`: the key holds the value itself.
    public let field: String?
    /// What the caller is told when there is none.
    public let error: DeclaredError
    /// The sentence that goes with it.
    public let sentence: String

    /// Reads `NAME = TEMPLATE [FIELD] else CODE [STATUS] -- Sentence`.
    init(header text: String) throws(HeaderFault) {
        let example = "sessionId = user:{userId}#current else not_in_session 404 -- No active session."
        guard let (before, after) = HeaderText.cut(text, at: " -- "), !HeaderText.trimmed(after).isEmpty else {
            throw HeaderFault("behind -- stands the sentence for a caller where there is none, e.g. " + example)
        }
        sentence = HeaderText.trimmed(after)
        let words = HeaderText.words(before)
        guard words.count >= 3, words[1] == "=" else { throw HeaderFault("expected " + example) }
        guard HeaderText.isName(words[0], capitals: true), !HeaderText.luaWords.contains(words[0]), words[0] != "id"
        else {
            throw HeaderFault(
                "a resolved value's name is a lower-case letter, then A-Z a-z 0-9, no word of Lua, not id")
        }
        name = words[0]
        key = try Template(key: words[2])
        guard let place = words.firstIndex(of: "else"), (3...4).contains(place) else {
            throw HeaderFault("after the key, and perhaps a field of it, else says what is told where there is none")
        }
        field = place == 4 ? words[3] : nil
        if let field, !ResolvedValue.isField(field) {
            throw HeaderFault("a field is 1 to 64 of A-Z a-z 0-9 . _ -")
        }
        error = try DeclaredError(header: words[(place + 1)...].joined(separator: " "))
    }

    private static func isField(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || "._-".utf8.contains($0) }
    }
}
