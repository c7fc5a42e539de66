public import Core
public import Rights

/// The rules of all sessions of a shard; shared, so that a session holds a single reference.
public final class SessionRules {
    let limits: Limits
    let access: AccessPolicy
    let budget: any SessionBudget
    /// The rates of one session, and the rate at which a client may open sessions.
    let (messageRate, joinRate, authenticationRate): (RateLimit, RateLimit, RateLimit)
    /// The rates of reads of followed topics' sets, and of joins of followed topics.
    let (followReadRate, followJoinRate): (RateLimit, RateLimit)

    /// The rules of one shard; `budget` is that of the node.
    public init(limits: Limits, access: AccessPolicy, budget: any SessionBudget) {
        self.limits = limits
        self.access = access
        self.budget = budget
        messageRate = RateLimit(perSecond: limits.messagesPerSecond, burst: limits.messagesPerSecond * 2)
        joinRate = RateLimit(
            perSecond: limits.joinsPerSecond, burst: max(limits.joinsPerSecond * 2, limits.subscribeBatchMax))
        authenticationRate = RateLimit(
            perSecond: limits.authenticationsPerSecond, burst: limits.authenticationsPerSecond * 10)
        followReadRate = RateLimit(
            perSecond: limits.followReadsPerSecond, burst: limits.followReadsPerSecond * 5)
        followJoinRate = RateLimit(
            perSecond: limits.joinsPerSecond, burst: max(limits.followsMax, limits.joinsPerSecond))
    }
}
