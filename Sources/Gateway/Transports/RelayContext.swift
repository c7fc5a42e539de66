import Core
import Operations
import RedisLink
import Rights
import Service

/// The services of a shard that its relay uses.
struct RelayContext {
    /// This shard's address.
    let address: ShardAddress
    let keys: Keys
    let link: any RedisCalls
    let clock: ShardClock
    let limits: Limits
    let statistics: ShardStatistics
    let rates: CallerRates
    let budgets: Budgets

    /// Charges a client of this node for a request of so many microseconds; false when its budget is used up.
    func pay(_ us: Int, at address: IPAddress?) -> Bool {
        budgets.payOwn(rates.payer(.anonymous, at: address), us: us, nowMs: clock.nowMs) == nil
    }
}
