public import Core
public import Operations
import Reactors
public import RedisLink
public import Service

/// The services by which a shard asks other nodes, and answers them.
public struct FleetContext {
    let address: ShardAddress
    let shardCount: Int
    let keys: Keys
    let link: any RedisCalls
    let clock: ShardClock
    let limits: Limits
    let access: FleetAccess
    let figures: NodeFigures
    let statistics: ShardStatistics
    /// Sends to a shard of this node; false when its mailbox is full.
    let send: (FleetOrder, _ shard: Int) -> Bool

    /// The services of the shard at `address`, one of `shardCount`.
    public init(
        address: ShardAddress, shardCount: Int, keys: Keys, link: any RedisCalls, clock: ShardClock,
        limits: Limits, access: FleetAccess, figures: NodeFigures, statistics: ShardStatistics,
        send: @escaping (FleetOrder, _ shard: Int) -> Bool
    ) {
        self.address = address
        self.shardCount = shardCount
        self.keys = keys
        self.link = link
        self.clock = clock
        self.limits = limits
        self.access = access
        self.figures = figures
        self.statistics = statistics
        self.send = send
    }

    /// The names of the other gateways that live.
    var others: [[UInt8]] {
        figures.nodes.withLock { book in book.others.filter { $0.kind == .gateway }.map(\.name) }
    }
}

/// A message between two shards of one node.
public enum FleetOrder: Sendable {
    /// Answer a question of another shard.
    case asked(FleetQuestion, number: Int, asker: Int)
    /// The answer of a shard, or the cause for which there is none.
    case answered(Result<FleetAnswer, FleetFault>, number: Int, by: Int)
    /// Continue with an answer that is being made; to the shard itself.
    case proceed
}
