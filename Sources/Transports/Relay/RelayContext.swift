public import Core
public import Operations
public import RedisLink
import Rights
public import Service

/// The services of a shard that its relay uses.
public struct RelayContext {
    /// This shard's address.
    public let address: ShardAddress
    public let keys: Keys
    public let link: any RedisCalls
    public let clock: ShardClock
    public let limits: Limits
    public let statistics: ShardStatistics
    public let rates: CallerRates
    public let budgets: Budgets

    /// Takes all members.
    public init(
        address: ShardAddress, keys: Keys, link: any RedisCalls, clock: ShardClock, limits: Limits,
        statistics: ShardStatistics, rates: CallerRates, budgets: Budgets
    ) {
        self.address = address
        self.keys = keys
        self.link = link
        self.clock = clock
        self.limits = limits
        self.statistics = statistics
        self.rates = rates
        self.budgets = budgets
    }

    /// Charges a client of this node for a request of so many microseconds; false when its budget is used up.
    func pay(_ us: Int, at address: IPAddress?) -> Bool {
        budgets.payOwn(rates.payer(.anonymous, at: address), us: us, nowMs: clock.nowMs) == nil
    }
}
