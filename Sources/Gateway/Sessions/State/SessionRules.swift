import Core
import Rights

/// The rules of all sessions of a shard; shared, so that a session holds a single reference.
final class SessionRules {
    /// Charges the caller's budget; `nil` when it was charged, else the milliseconds until it could be.
    typealias Charge = (SessionCost, Caller) -> Int?

    let limits: Limits
    let access: AccessPolicy
    let charge: Charge
    /// Charges the budget for the Redis operations of a join; returns a refusal when it cannot be charged.
    var payJoin: (Topic, Caller, IPAddress?) -> Refusal? = { _, _, _ in nil }
    /// Number of further topics that connections without a token may hold from an address.
    var addressRoom: (IPAddress?) -> Int = { _ in Int.max }
    /// Reports that a connection without a token holds so many more topics from an address; a negative number means
    /// fewer.
    var noteHeld: (Int, IPAddress?) -> Void = { _, _ in }
    /// A deliberate fault, by which a test proves that the simulation finds it; `nil` outside tests.
    let fault: SessionFault?

    init(limits: Limits, access: AccessPolicy, fault: SessionFault? = nil, charge: @escaping Charge) {
        self.limits = limits
        self.access = access
        self.fault = fault
        self.charge = charge
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
