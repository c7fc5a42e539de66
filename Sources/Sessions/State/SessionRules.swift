public import Core
public import Rights

/// The rules of all sessions of a shard; shared, so that a session holds a single reference.
public final class SessionRules {
    let limits: Limits
    let access: AccessPolicy
    let budget: any SessionBudget

    /// The rules of one shard; `budget` is that of the node.
    public init(limits: Limits, access: AccessPolicy, budget: any SessionBudget) {
        self.limits = limits
        self.access = access
        self.budget = budget
    }
}
