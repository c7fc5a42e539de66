public import Core

/// What a command answered.
public struct CommandAnswer: Equatable, Sendable {
    /// One JSON object, checked.
    public let json: [UInt8]
    /// Whether the operation was done before: this is its first answer, and nothing has changed.
    public let isRetry: Bool
    /// How many events and calls it led to, beside the answer; 0 for a retry.
    public let effects: Int
    /// The token that the caller gets with it; a retry gets the same.
    public var minted: MintedGrant?

    init(json: [UInt8], isRetry: Bool, effects: Int) {
        (self.json, self.isRetry, self.effects) = (json, isRetry, effects)
    }

    /// The answer of a service outside; `nil` unless it is one JSON object within what clients may send.
    public init?(outside text: [UInt8], limits: JSON.Limits) {
        guard (try? JSON(parsing: text, limits: limits))?.root.kind == .object else { return nil }
        self.init(json: text, isRetry: false, effects: 0)
    }

    /// The same answer with a further member, which no script may name: the token.
    public func with(token: [UInt8]) -> CommandAnswer {
        var text = Array(json.dropLast())
        text.append(text: text.count > 1 ? ",\"token\":\"" : "\"token\":\"")
        text += token
        text.append(text: "\"}")
        return CommandAnswer(json: text, isRetry: isRetry, effects: effects)
    }
}
