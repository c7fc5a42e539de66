import Core

/// The rate at which one payer may call a command: `@rate 6/60 s user`.
public struct CallRate: Hashable, Sendable, CustomStringConvertible {
    /// The kind of payer that a rate counts calls by.
    public enum Payer: String, CaseIterable, Sendable {
        /// The user of a user's token.
        case user
        /// The address of a caller without a token.
        case address
        /// The API key, or the subject of a service's token.
        case key

        /// The role of the callers that the rate bounds.
        public var role: CommandRole {
            switch self {
            case .user: .user
            case .address: .anonymous
            case .key: .service
            }
        }
    }

    /// The most calls within the time.
    public let calls: Int
    /// The time, seconds.
    public let seconds: Int
    /// The kind of payer that calls are counted by.
    public let payer: Payer
    /// Whether only those calls count that the body marks by `counted`.
    public let isMarked: Bool

    /// The range of ``calls``.
    public static let callsRange = 1...1_000_000
    /// The range of ``seconds``: at most a day.
    public static let secondsRange = 1...86_400

    /// Reads `N/S s PAYER [marked]`.
    init(header text: String) throws(HeaderFault) {
        let words = HeaderText.words(text)
        guard words.count == 3 || words.count == 4 && words[3] == "marked", words[1] == "s",
            let (calls, seconds) = HeaderText.cut(words[0], at: "/"),
            let calls = ASCII.decimal(Array(calls.utf8)), let seconds = ASCII.decimal(Array(seconds.utf8))
        else { throw HeaderFault("expected calls, seconds, the unit s and who is counted, e.g. 6/60 s user") }
        guard CallRate.callsRange.contains(calls) else {
            throw HeaderFault("the calls must be 1 to \(CallRate.callsRange.upperBound), not \(calls)")
        }
        guard CallRate.secondsRange.contains(seconds) else {
            throw HeaderFault("the seconds must be 1 to \(CallRate.secondsRange.upperBound), not \(seconds)")
        }
        guard let payer = Payer(rawValue: words[2]) else {
            let names = Payer.allCases.map(\.rawValue)
            throw HeaderFault(
                PrintableText.quoted(words[2]) + " cannot be counted; a rate counts by " + names.joined(separator: ", ")
                    + NearestName.hint(names, to: words[2]))
        }
        (self.calls, self.seconds, self.payer, isMarked) = (calls, seconds, payer, words.count == 4)
    }

    /// The rate as a header declares it: `6/60 s user`.
    public var description: String { "\(calls)/\(seconds) s \(payer.rawValue)" + (isMarked ? " marked" : "") }
}
