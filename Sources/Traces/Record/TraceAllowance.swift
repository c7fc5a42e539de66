/// The changes that a session may still write into the record within a period, so that no client fills it.
///
/// Pure.
public struct TraceAllowance: Sendable {
    /// Changes of one session in a period; its end has as many again.
    public static let changesMax: UInt8 = 250
    /// Refused requests and tokens among them.
    public static let refusalsMax: UInt8 = 8

    /// The rule for one change.
    enum Ruling {
        case kept
        /// A note that later changes are missing stands in its place.
        case last
        case dropped
    }

    private var period: UInt32 = 0
    private var changes: UInt8 = 0
    private var refusals: UInt8 = 0

    /// A whole allowance.
    public init() {}

    /// Whether nothing more is kept in the period.
    func isSpent(in period: UInt32) -> Bool { period == self.period && changes >= TraceAllowance.changesMax }

    /// Counts a change.
    mutating func take(_ kind: TraceEntry.Change.Kind, in period: UInt32) -> Ruling {
        if period != self.period { (self.period, changes, refusals) = (period, 0, 0) }
        guard changes < TraceAllowance.changesMax else { return .dropped }
        if kind == .refused || kind == .token {
            guard refusals < TraceAllowance.refusalsMax else { return .dropped }
            refusals += 1
        }
        changes += 1
        return changes == TraceAllowance.changesMax ? .last : .kept
    }
}
