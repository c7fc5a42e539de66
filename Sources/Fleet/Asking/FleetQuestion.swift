import Core

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
        /// Not a question: begins to record what passes on the connection of a session.
        case tap
        /// The messages that a tap has recorded.
        case wire
        /// Not a question: ends a tap.
        case untap
    }

    /// A parameter; the raw value is its name between nodes and in queries.
    public enum Parameter: String, CaseIterable, Sendable {
        case user, address, topic, namespace, by, session, reason, position, published, seconds, after
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
    var isShared: Bool {
        switch kind {
        case .close, .forget, .tap, .wire, .untap: false
        case .nodes, .topics, .sessions, .slow, .talkers, .trace, .why: true
        }
    }

    /// Whether it counts against the rate of questions; an erasure is paid for by whoever asks for it.
    var isLimited: Bool { kind != .forget }

    /// The shards of a node with so many shards that have to do with it.
    func shards(of count: Int) -> Range<Int> {
        switch kind {
        // The first shard answers with what a node counts as a whole.
        case .nodes, .talkers: return 0..<min(1, count)
        case .close, .tap, .wire, .untap:
            let shard = parameters[.session].flatMap { ShardAddress.parts(ofID: $0)?.home.shard }
            return shard.flatMap { $0 < count ? $0..<($0 + 1) : nil } ?? 0..<0
        case .topics, .sessions, .slow, .trace, .why, .forget: return 0..<count
        }
    }

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
        case .trace, .why, .tap, .wire, .untap: [FleetFigure("rank", .largest, isHidden: true)]
        case .topics:
            [
                FleetFigure("members", .sum), FleetFigure("eventsPerMinute", .largest),
                FleetFigure("bytesPerMinute", .sum), FleetFigure("nodes", .sumOfNodes),
            ]
        case .sessions, .slow:
            [
                FleetFigure("rank", .largest, isHidden: true), FleetFigure("queuedBytes", .largest),
                FleetFigure("waitingMs", .largest),
            ]
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
        /// The largest of a node's shards, and the sum over the nodes.
        case sumOfNodes
    }

    /// The name of the member in the answer.
    let name: StaticString
    /// Whether it only orders the rows.
    let isHidden: Bool
    private let combination: Combination

    init(_ name: StaticString, _ combination: Combination, isHidden: Bool = false) {
        (self.name, self.combination, self.isHidden) = (name, combination, isHidden)
    }

    /// Combines two parts' numbers; a sum that does not fit stays at the largest number.
    ///
    /// `ofNodes`: the parts are nodes; otherwise they are shards of one node.
    func combined(_ left: Int, _ right: Int, ofNodes: Bool) -> Int {
        switch combination {
        case .largest: return max(left, right)
        case .sumOfNodes where !ofNodes: return max(left, right)
        case .sum, .sumOfNodes:
            let sum = left.addingReportingOverflow(right)
            return sum.overflow ? Int.max : sum.partialValue
        }
    }
}
