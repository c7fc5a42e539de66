import Core
import Reactors
import RedisLink
import Service
import Transport

/// Reports the current master to the shards and to the broker's own link.
///
/// When the master changes, the links for publishes leave the old one first, then the broker's link. So the members of
/// this node miss no event that it still wrote there. Thread: the broker's.
final class MasterFollower {
    /// The directory of primaries from which the broker's link is made.
    let directory: PrimaryDirectory
    private let nowMs: () -> Int
    private let tellShards: (ServerMap) -> Void
    private var watch: SentinelWatch?
    private var order: LeaveOrder

    /// Maximum time that the broker's link waits for the shards', milliseconds.
    private static let patienceMs = 250

    init(
        node: Node, context: ConnectionContext, nowMs: @escaping () -> Int,
        tellShards: @escaping (ServerMap) -> Void
    ) throws(Errno) {
        order = LeaveOrder(followers: node.shards.count, patienceMs: MasterFollower.patienceMs)
        self.nowMs = nowMs
        self.tellShards = tellShards
        guard node.redis.hasSentinels else {
            directory = PrimaryDirectory(fixed: node.redis.url)
            return
        }
        let holder = Holder()
        directory = PrimaryDirectory { holder.follower?.ask($0) }
        holder.follower = self
        let log = node.log
        watch = try SentinelWatch(
            context, node.redis, name: "switchboard-\(node.name)", statistics: node.sentinelStatistics,
            onNews: { SentinelLog.tell($0, log) }, onMap: { [unowned self] in take($0) })
    }

    private final class Holder {
        weak var follower: MasterFollower?
    }

    /// Asks for a look at the servers.
    func ask(_ hint: ServerHint) {
        watch?.ask(hint)
    }

    /// The current map; `nil` for one server.
    var map: ServerMap? { watch?.map }

    private func take(_ map: ServerMap) {
        tellShards(map)
        if order.mayTake(map, after: directory.map, nowMs: nowMs()) { directory.take(map) }
    }

    /// A shard has applied a map.
    func moved(shard: Int, generation: Int) {
        if order.followed(by: shard, generation: generation) { finish() }
    }

    /// Called often: ends the wait for shards that do not answer.
    func look() {
        if order.isOverdue(nowMs: nowMs()) { finish() }
    }

    private func finish() {
        if let map = watch?.map { directory.take(map) }
    }
}
