public import Core

/// What a command answered.
public struct CommandAnswer: Equatable, Sendable {
    /// One JSON object, checked.
    public let json: [UInt8]
    /// Whether the operation was done before: this is its first answer, and nothing has changed.
    public let isRetry: Bool
    /// What the events and calls that it led to cost its caller, in publishes; 0 for a retry.
    public let price: Int
    /// Bytes of the events and calls that it led to, as often as they are kept; 0 where they are few.
    public internal(set) var bytesTold = 0
    /// Whether the script says that the call is one which its `marked` rates count.
    public internal(set) var isMarked = false
    /// The token that the caller gets with it; a retry gets the same.
    public var minted: MintedGrant?
    /// How often the script was run before the last time, for what it wanted of topics of other masters.
    public private(set) var roundsElsewhere = 0
    /// What reading there has cost the other masters, microseconds.
    public private(set) var elsewhereUs = 0

    init(json: [UInt8], isRetry: Bool, price: Int) {
        (self.json, self.isRetry, self.price) = (json, isRetry, price)
    }

    /// The same with what it took to read elsewhere.
    func after(_ elsewhere: ReadsElsewhere?) -> CommandAnswer {
        guard let elsewhere else { return self }
        var answer = self
        answer.roundsElsewhere = elsewhere.rounds
        answer.elsewhereUs = elsewhere.readCount * ReadsElsewhere.readUs
        return answer
    }

    /// The answer of a service outside; `nil` unless it is one JSON object within what clients may send.
    public init?(outside text: [UInt8], limits: JSON.Limits) {
        guard (try? JSON(parsing: text, limits: limits))?.root.kind == .object else { return nil }
        self.init(json: text, isRetry: false, price: 0)
    }

    /// The same answer with a further member, which no script may name: the token.
    public func with(token: [UInt8]) -> CommandAnswer {
        var text = Array(json.dropLast())
        text.append(text: text.count > 1 ? ",\"token\":\"" : "\"token\":\"")
        text += token
        text.append(text: "\"}")
        return CommandAnswer(json: text, isRetry: isRetry, price: price)
    }
}
