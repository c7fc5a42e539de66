public import Core

/// The answer of a command.
public struct CommandAnswer: Equatable, Sendable {
    /// One JSON object, checked.
    public let json: [UInt8]
    /// Whether the operation was done before: this is its first answer, and nothing has changed.
    public let isRetry: Bool
    /// The charge for the events and calls that it caused, in publishes; 0 for a retry.
    public let price: Int
    /// Bytes of the events and calls that it caused, counted once for each stored copy; 0 when they are few.
    public internal(set) var bytesSent = 0
    /// Whether the script counts the call in its `marked` rates.
    public internal(set) var isMarked = false
    /// The token that the caller receives with the answer; a retry receives the same.
    public var minted: MintedGrant?
    /// The number of earlier runs of the script, each of which ended by asking for reads of topics of other masters.
    public private(set) var roundsElsewhere = 0
    /// The time that these reads cost the other masters, microseconds.
    public private(set) var elsewhereUs = 0

    init(json: [UInt8], isRetry: Bool, price: Int) {
        (self.json, self.isRetry, self.price) = (json, isRetry, price)
    }

    /// The same answer with the cost of reads on other masters.
    func after(_ elsewhere: ReadsElsewhere?) -> CommandAnswer {
        guard let elsewhere else { return self }
        var answer = self
        answer.roundsElsewhere = elsewhere.rounds
        answer.elsewhereUs = elsewhere.readCount * ReadsElsewhere.readUs
        return answer
    }

    /// The same answer with another text.
    func with(json: [UInt8]) -> CommandAnswer {
        var answer = CommandAnswer(json: json, isRetry: isRetry, price: price)
        (answer.bytesSent, answer.isMarked, answer.minted) = (bytesSent, isMarked, minted)
        return answer
    }

    /// The answer of an outside service; `nil` unless it is one JSON object within `limits`, those of client messages.
    public init?(outside text: [UInt8], limits: JSON.Limits) {
        guard (try? JSON(parsing: text, limits: limits))?.root.kind == .object else { return nil }
        self.init(json: text, isRetry: false, price: 0)
    }

    /// The same answer with a member `token`, which no script may name.
    public func with(token: [UInt8]) -> CommandAnswer {
        var text = Array(json.dropLast())
        text.append(text: text.count > 1 ? ",\"token\":\"" : "\"token\":\"")
        text += token
        text.append(text: "\"}")
        return CommandAnswer(json: text, isRetry: isRetry, price: price)
    }
}
