import Core
import Operations
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
    private let shards: Int
    private let nowMs: () -> Int
    private let broadcast: (ServerMap) -> Void
    private var watch: SentinelWatch?
    /// A map that some shards still have to apply, and since when, monotonic milliseconds.
    private var pending: (map: ServerMap, shards: Set<Int>, sinceMs: Int)?

    /// Maximum time that the broker's link waits for the shards', milliseconds.
    private static let patienceMs = 250

    init(
        node: Node, context: ConnectionContext, nowMs: @escaping () -> Int,
        broadcast: @escaping (ServerMap) -> Void
    ) throws(Errno) {
        shards = node.shards.count
        self.nowMs = nowMs
        self.broadcast = broadcast
        guard node.redis.hasSentinels else {
            directory = PrimaryDirectory(fixed: node.redis.url)
            return
        }
        let holder = Holder()
        directory = PrimaryDirectory { holder.follower?.ask($0) }
        holder.follower = self
        let log = node.log
        watch = try SentinelWatch(
            context, node.redis, name: "switchboard-\(node.name)", statistics: node.figures.sentinel,
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
        broadcast(map)
        // A second map at once must not let the broker's link move before the shards' links.
        if let pending, pending.map.masters.first?.endpoint == map.masters.first?.endpoint { return }
        let old = directory.map?.masters.first?.endpoint
        guard let old, let new = map.masters.first?.endpoint, old != new else {
            pending = nil
            return directory.take(map)
        }
        pending = (map, Set(0..<shards), nowMs())
    }

    /// A shard has applied a map.
    func moved(shard: Int, generation: Int) {
        guard let waiting = pending, generation >= waiting.map.generation else { return }
        pending?.shards.remove(shard)
        if pending?.shards.isEmpty == true { finish() }
    }

    /// Called often: ends the wait for shards that do not answer.
    func look() {
        if let pending, nowMs() - pending.sinceMs >= MasterFollower.patienceMs { finish() }
    }

    private func finish() {
        pending = nil
        if let map = watch?.map { directory.take(map) }
    }
}
