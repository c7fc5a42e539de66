import Core
import Rights

/// The rules of all sessions of a shard; shared, so that a session holds a single reference.
final class SessionRules {
    let limits: Limits
    let access: AccessPolicy
    let budget: any SessionBudget
    /// A deliberate fault, by which a test proves that the simulation finds it; `nil` outside tests.
    let fault: SessionFault?

    init(limits: Limits, access: AccessPolicy, budget: any SessionBudget, fault: SessionFault? = nil) {
        self.limits = limits
        self.access = access
        self.fault = fault
        self.budget = budget
    }
}

/// Faults that sessions once had, or could have; only the simulation's own test enables one.
enum SessionFault: CaseIterable {
    /// A topic is joined although the client has left it while its membership was asked for.
    case lastWordIsForgotten
    /// The reference of a join that a later request replaced is never answered.
    case supersededIsSilent
    /// A live topic is left before it is known whether the session may join it again.
    case leavesBeforeItMay
    /// A live topic is left before the budget is charged for joining it again.
    case leavesBeforeItPays
    /// A topic that could not be joined again is lost, and the client is not notified.
    case lossIsSilent
    /// A refreshed token that grants less ends no subscription.
    case refreshTakesNothing
    /// Followed topics are joined anew with each subscription to the own topic, without any charge.
    case followsAreFree
}
