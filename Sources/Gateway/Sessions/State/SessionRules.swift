import Core
import Rights

/// What all sessions of a shard go by; shared, so that a session carries one reference.
final class SessionRules {
    /// Asks the caller's budget to pay; `nil` when it has paid, else the milliseconds until it could.
    typealias Charge = (SessionCost, Caller) -> Int?

    let limits: Limits
    let access: AccessPolicy
    let charge: Charge
    /// Pays for what a join of the topic costs Redis, or says why it cannot be paid.
    var payJoin: (Topic, Caller, IPAddress?) -> Refusal? = { _, _, _ in nil }
    /// How many more topics connections without a token may hold from an address.
    var addressRoom: (IPAddress?) -> Int = { _ in Int.max }
    /// Notes that a connection without a token holds so many more topics from an address, or fewer.
    var noteHeld: (Int, IPAddress?) -> Void = { _, _ in }
    /// Something done wrong on purpose, to prove that the simulation sees it; `nil` outside tests.
    let fault: SessionFault?

    init(limits: Limits, access: AccessPolicy, fault: SessionFault? = nil, charge: @escaping Charge) {
        self.limits = limits
        self.access = access
        self.fault = fault
        self.charge = charge
    }
}

/// Mistakes that sessions made once, or could make; put back only by the simulation's own test.
enum SessionFault: CaseIterable {
    /// A topic is joined although the client has left it while its membership was asked for.
    case lastWordIsForgotten
    /// The reference of a join that another word took the place of is never answered.
    case supersededIsSilent
    /// A live topic is left before it is known whether it may be joined again.
    case leavesBeforeItMay
    /// A live topic is left before joining it again is paid.
    case leavesBeforeItPays
    /// A topic that could not be joined again is gone, and the client is not told.
    case lossIsSilent
    /// A token that grants less takes nothing away.
    case refreshTakesNothing
    /// Followed topics are joined anew with each subscription of the own topic, and nobody pays.
    case followsAreFree
}
