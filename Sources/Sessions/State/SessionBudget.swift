public import Core
public import Rights

/// The budgets that the requests of sessions are charged to.
///
/// Thread: the shard's.
public protocol SessionBudget: AnyObject {
    /// Charges the caller's budget; `nil` when it was charged, else the milliseconds until it could be.
    func charge(_ cost: SessionCost, _ caller: Caller) -> Int?
    /// Charges the budget for the Redis operations of a join; returns a refusal when it cannot be charged.
    func payJoin(_ topic: Topic, _ caller: Caller, at address: IPAddress?) -> Refusal?
    /// Number of further topics that connections without a token may hold from an address.
    func room(at address: IPAddress?) -> Int
    /// A connection without a token holds so many more topics from an address; a negative number means fewer.
    func hold(_ count: Int, at address: IPAddress?)
}
