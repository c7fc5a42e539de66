import Core
import Reactors
import RedisLink
import Service
import Transport

/// Tells the shards and the broker's own link which server is the master.
///
/// When another takes its place, the links that publishes go by leave the old one first, then the broker's: so nothing
/// that this node still wrote there is missed by its own members. Thread: the broker's.
final class MasterFollower {
    /// What the broker's link is made with.
    let board: ServerBoard
    private let shards: Int
    private let nowMs: () -> Int
    private let tellShards: (ServerMap) -> Void
    private var watch: SentinelWatch?
    /// A map that shards still have to take, and since when.
    private var pending: (map: ServerMap, shards: Set<Int>, sinceMs: Int)?

    /// The longest that the broker's link waits for the shards', milliseconds.
    private static let patienceMs = 250

    init(
        node: Node, context: ConnectionContext, nowMs: @escaping () -> Int,
        tellShards: @escaping (ServerMap) -> Void
    ) throws(Errno) {
        shards = node.shards.count
        self.nowMs = nowMs
        self.tellShards = tellShards
        guard node.redis.hasSentinels else {
            board = ServerBoard(fixed: node.redis.url)
            return
        }
        let holder = Holder()
        board = ServerBoard { holder.follower?.ask($0) }
        holder.follower = self
        let log = node.log
        watch = try SentinelWatch(
            context, node.redis, name: "switchboard-\(node.name)", statistics: node.sentinelStatistics,
            onNews: { SentinelLog.tell($0, log) }, onMap: { [unowned self] in take($0) })
    }

    private final class Holder {
        weak var follower: MasterFollower?
    }

    /// Somebody has a reason to look.
    func ask(_ hint: ServerHint) {
        watch?.ask(hint)
    }

    /// What is known now; `nil` for one server.
    var map: ServerMap? { watch?.map }

    private func take(_ map: ServerMap) {
        tellShards(map)
        // A map that follows at once must not let the broker's link go before the shards' have gone.
        if let pending, pending.map.masters.first?.endpoint == map.masters.first?.endpoint { return }
        let old = board.map?.masters.first?.endpoint
        guard let old, let new = map.masters.first?.endpoint, old != new else {
            pending = nil
            return board.take(map)
        }
        pending = (map, Set(0..<shards), nowMs())
    }

    /// A shard has taken a map.
    func moved(shard: Int, generation: Int) {
        guard let waiting = pending, generation >= waiting.map.generation else { return }
        pending?.shards.remove(shard)
        if pending?.shards.isEmpty == true { finish() }
    }

    /// Called often: shards that do not answer are not waited for.
    func look() {
        if let pending, nowMs() - pending.sinceMs >= MasterFollower.patienceMs { finish() }
    }

    private func finish() {
        pending = nil
        if let map = watch?.map { board.take(map) }
    }
}
