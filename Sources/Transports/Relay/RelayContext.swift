public import Core
public import Operations
public import RedisLink
import Rights
public import Service

/// The services that a relay uses, one value for each shard.
public struct RelayContext {
    /// This shard's address.
    public let address: ShardAddress
    /// The names of the nodes' channels.
    public let keys: Keys
    /// The link by which messages are published.
    public let link: any RedisCalls
    /// The clock of the shard.
    public let clock: ShardClock
    /// The limits of relayed requests: their number, bytes and times.
    public let limits: Limits
    /// The counters of the shard.
    public let statistics: ShardStatistics
    /// Finds the payer of an address.
    public let rates: CallerRates
    /// The budgets that relayed requests are charged to.
    public let budgets: Budgets

    /// The services of the shard at `address`.
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
