public import Core
import Reactors

/// The members of a topic on one shard, and on all shards of the node that serve it in rounds.
public struct FanoutShare: Equatable, Sendable {
    /// Members on this shard.
    public let own: Int
    /// Members on all shards, those on this one included.
    public let all: Int

    /// A shard with `own` of `all` members.
    public init(own: Int, all: Int) {
        self.own = own
        self.all = all
    }
}

/// The members of large topics on the shards of a node, by which pauses between fan-out rounds are reckoned.
///
/// Thread: any; a shard uses it once for each round, which writes to hundreds of members.
public final class FanoutCrowds: Sendable {
    private struct Part {
        let members: Int
        let countedMs: Int
    }

    private let crowds = Guarded<[Topic: [Int: Part]]>([:])

    /// Milliseconds after which a shard's count is forgotten: without rounds no pause depends on it.
    static let lifeMs = 1_000

    /// Knows no topic.
    public init() {}

    /// Takes a shard's number of members after a round.
    public func share(of topic: Topic, shard: Int, members: Int, nowMs: Int) -> FanoutShare {
        crowds.withLock { crowds in
            var parts = crowds[topic] ?? [:]
            parts[shard] = Part(members: members, countedMs: nowMs)
            parts = parts.filter { nowMs - $0.value.countedMs < FanoutCrowds.lifeMs }
            crowds[topic] = parts
            return FanoutShare(own: members, all: parts.values.reduce(0) { $0 + $1.members })
        }
    }

    /// Forgets topics without rounds; called now and then.
    public func sweep(nowMs: Int) {
        crowds.withLock { crowds in
            crowds = crowds.filter { $0.value.values.contains { nowMs - $0.countedMs < FanoutCrowds.lifeMs } }
        }
    }
}
