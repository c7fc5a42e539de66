/// Whether a node that cannot deliver for every master of a cluster may be sent clients all the same (`--ready-partial`).
///
/// It may while one master at least is proven and nothing else is wrong than with other masters. At the start it must be
/// known of each of these what fails, so that no client comes in the moment before all are proven. Pure.
struct PartialReadiness {
    private var wasReady = false

    /// Judges what is proven now; `proven` masters are, and `conditions` tell what is not.
    mutating func judge(proven: Int, _ conditions: [Condition]) -> Bool {
        let isOfMasters = conditions.allSatisfy { condition in
            if case .master = condition.part { return true }
            return condition.reason == .slotsUncovered
        }
        guard proven > 0, isOfMasters, wasReady || conditions.allSatisfy(\.reason.isFailure) else { return false }
        wasReady = true
        return true
    }
}
