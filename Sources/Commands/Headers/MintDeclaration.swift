import Core

/// `@mint TOPIC DURATION`: the one topic and the lifetime of the token that the gateway may sign for a script.
public struct MintDeclaration: Hashable, Sendable {
    /// The one topic of the token.
    public let topic: Template
    /// The token's lifetime, seconds.
    public let seconds: Int

    private static let units = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
    /// The range of a token's lifetime, seconds; a revocation is stored for as long.
    static let range = 60...2_592_000

    /// Reads `session:{sessionId} 6 h`.
    init(header text: String) throws(HeaderFault) {
        let words = HeaderText.words(text)
        guard words.count == 3, let count = ASCII.decimal(Array(words[1].utf8)),
            let unit = MintDeclaration.units[words[2]], count <= MintDeclaration.range.upperBound,
            MintDeclaration.range.contains(count * unit)
        else {
            throw HeaderFault("expected a topic and 1 m to 30 d, e.g. session:{sessionId} 6 h; units are s, m, h, d")
        }
        topic = try Template(topic: words[0])
        guard topic.variable != nil else { throw HeaderFault("a token is for one topic; name an argument, not *") }
        seconds = count * unit
    }
}
