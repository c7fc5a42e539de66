/// A question to all gateways of one Redis, or to one of them.
///
/// Pure: a value that crosses threads and nodes.
public struct FleetQuestion: Hashable, Sendable {
    /// The subject of a question; the raw value is its word between nodes.
    public enum Kind: String, CaseIterable, Sendable {
        /// The state of each gateway.
        case nodes
        /// The topics with the largest figures.
        case topics
        /// Client sessions.
        case sessions
        /// Sessions that are behind.
        case slow
        /// The callers that ask most.
        case talkers
        /// Not a question: closes a session.
        case close
        /// The fate of an event for the sessions of a topic.
        case trace
        /// The fate of an event for the sessions of a user.
        case why
        /// Not a question: erases a user from the records.
        case forget
    }

    /// A parameter; the raw value is its name between nodes and in queries.
    public enum Parameter: String, CaseIterable, Sendable {
        case user, address, topic, namespace, by, session, reason, position, published
    }

    /// The subject.
    public let kind: Kind
    /// The parameters that narrow it.
    public var parameters: [Parameter: [UInt8]]
    /// Index of the figure by which rows are ordered, the largest first.
    public var order: Int
    /// Maximum number of rows in the answer.
    public var limit: Int
    /// The only gateway to ask; `nil`: all.
    public var node: [UInt8]?

    /// The most rows of an answer.
    public static let limits = 1...500
    /// The number of rows without a `limit`.
    public static let limitUsual = 50
    /// Maximum bytes of a parameter.
    public static let parameterBytesMax = 256

    /// A question of a kind; rows are ordered by the first figure unless `order` says otherwise.
    public init(
        _ kind: Kind, _ parameters: [Parameter: [UInt8]] = [:], order: Int = 0, limit: Int = limitUsual,
        node: [UInt8]? = nil
    ) {
        self.kind = kind
        self.parameters = parameters
        self.order = order
        self.limit = limit
        self.node = node
    }

    /// Whether several askers may share one answer: an action is done for each.
    var isShared: Bool { kind != .close && kind != .forget }

    /// The number of rows that each part returns.
    ///
    /// A part returns more rows than are wanted if rows are added up: the sum then has the right order.
    var rowsPerPart: Int { kind.isAddedUp ? min(4 * limit, 1_000) : limit }
}

extension FleetQuestion.Kind {
    /// The figures of a row: its name in the answer, and how those of several parts are combined.
    var figures: [FleetFigure] {
        switch self {
        case .nodes, .close, .forget: []
        case .trace, .why: [FleetFigure("rank", .largest)]
        case .topics:
            [
                FleetFigure("members", .sum), FleetFigure("eventsPerMinute", .largest),
                FleetFigure("bytesPerMinute", .sum), FleetFigure("nodes", .sum),
            ]
        case .sessions, .slow: [FleetFigure("queuedBytes", .largest), FleetFigure("waitingMs", .largest)]
        case .talkers:
            [
                FleetFigure("events", .sum), FleetFigure("bytes", .sum), FleetFigure("refusals", .sum),
                FleetFigure("redisUs", .sum),
            ]
        }
    }

    /// Whether one thing has a row on several nodes.
    var isAddedUp: Bool { self == .topics || self == .talkers }
}

/// A number of each row of an answer.
struct FleetFigure: Sendable {
    /// The combination of the numbers of several parts.
    enum Combination: Sendable {
        case sum
        case largest
    }

    /// The name of the member in the answer.
    let name: StaticString
    let combination: Combination

    init(_ name: StaticString, _ combination: Combination) {
        self.name = name
        self.combination = combination
    }

    /// Combines two parts' numbers; a sum that does not fit stays at the largest number.
    func combined(_ left: Int, _ right: Int) -> Int {
        switch combination {
        case .largest: max(left, right)
        case .sum:
            left.addingReportingOverflow(right).overflow ? Int.max : left + right
        }
    }
}
