/// Decides whether a node that cannot deliver for every master of a cluster is ready all the same (`--ready-partial`).
///
/// It is while at least one master is proven and only other masters fail. At the start, the failure of each of these
/// must be known, so that no client connects before all others are proven. Pure.
public struct PartialReadiness: Sendable {
    private var wasReady = false

    /// A node that was never ready.
    public init() {}

    /// Decides for the current state: `proven` masters are proven, and `conditions` list the unproven parts.
    public mutating func judge(proven: Int, _ conditions: [Condition]) -> Bool {
        let isOfMasters = conditions.allSatisfy { condition in
            if case .master = condition.part { return true }
            return condition.reason == .slotsUncovered
        }
        guard proven > 0, isOfMasters, wasReady || conditions.allSatisfy(\.reason.isFailure) else { return false }
        wasReady = true
        return true
    }
}
