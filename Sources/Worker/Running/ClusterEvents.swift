import Configuration
import Core
import Reactors
import RedisLink
import Service
import Transport

/// The worker's side of a cluster: the map, and the events of every master, which reports only its own keys.
///
/// Thread: the worker's.
final class ClusterEvents {
    private struct Master {
        let address: ClusterAddress
        let patterns: PatternLink
        let keyspace: KeyspaceWatch?
    }

    private let parts: WorkerParts
    private let reactor: Reactor
    private let context: ConnectionContext
    private let name: String
    private let link: ClusterLink
    private let globs: [[UInt8]]
    private unowned let owner: any PatternLinkOwner
    private var watch: ClusterWatch?
    private var masters: [[UInt8]: Master] = [:]

    init(
        _ parts: WorkerParts, _ reactor: Reactor, _ context: ConnectionContext, name: String, link: ClusterLink,
        globs: [[UInt8]], owner: any PatternLinkOwner
    ) throws(Errno) {
        self.parts = parts
        self.reactor = reactor
        self.context = context
        self.name = name
        self.link = link
        self.globs = globs
        self.owner = owner
        watch = try ClusterWatch(context, parts.redis, name: name + "-watch", nodesMax: parts.limits.clusterNodesMax) {
            [unowned self] in watched($0)
        }
    }

    /// The map may be out of date.
    func mapIsStale(_ address: ClusterAddress?) { watch?.hint(address) }

    private func watched(_ news: ClusterWatch.News) {
        switch news {
        case .changed(let map): use(map)
        case .unreachable(let failure): owner.patternsLost(failure)
        case .damaged(let uncovered, _):
            guard let first = uncovered.first else { return }
            let text = "\(first.lowerBound)-\(first.upperBound)"
            parts.log.write(.warn, "slots have no master", [("first", text), ("ranges", "\(uncovered.count)")])
        }
    }

    private func use(_ map: SlotMap) {
        link.use(map)
        for (id, master) in masters where map.master(id)?.address != master.address {
            master.patterns.stop()
            masters[id] = nil
        }
        for master in map.masters where masters[master.id] == nil {
            guard let calls = link.link(to: master.id),
                let patterns = try? PatternLink(
                    context, parts.redis.at(master.address), parts.redis.directory(master.address),
                    name: "\(name)-events",
                    patterns: globs,
                    channels: [parts.keys.outbox], pingMs: parts.limits.redisProbeMs,
                    pongMs: parts.limits.redisProbeTimeoutMs, owner: owner)
            else { continue }
            let keyspace =
                globs.isEmpty
                ? nil
                : KeyspaceWatch(
                    link: calls, reactor: reactor, log: parts.log, setting: parts.keyspaceEvents,
                    sweepMs: parts.limits.worker.sweepMs)
            masters[master.id] = Master(address: master.address, patterns: patterns, keyspace: keyspace)
        }
    }

    /// A connection to a master is ready.
    func connected(_ id: [UInt8]) { masters[id]?.keyspace?.connected() }

    /// Checks whether masters report changed keys, when it is time.
    func work(nowMs: Int) {
        for master in masters.values { master.keyspace?.work(nowMs: nowMs) }
    }

    /// The time of the next check.
    var nextMs: Int { masters.values.compactMap { $0.keyspace?.nextMs }.min() ?? Int.max }

    /// Whether every master reports every change.
    var isComplete: Bool {
        !masters.isEmpty && masters.values.allSatisfy { $0.patterns.isLive && $0.keyspace?.isOn != false }
    }

    /// Whether the events of every master arrive, or cannot for want of a right.
    var isSettled: Bool {
        !masters.isEmpty && masters.values.allSatisfy { $0.patterns.isLive || $0.patterns.lastFailure != nil }
    }
}
