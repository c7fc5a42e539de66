import Commands
import Core
import EventLogs
import Operations
import RedisLink
import Service
import Transports

/// The watches that one shard runs for the whole node: revocations, shared secret, servers, outbox, workers, clock.
///
/// Thread: the first shard's.
final class NodeWatches {
    private let rights: RevocationPoller
    private let relaySecret: RelaySecret
    private let load: LoadWatch
    private let outbox: OutboxInquiry
    private let servers: ServerWatch
    private let workers: WorkerInquiry
    private let calls: CallsInquiry
    private let nodes: NodeWatch

    init(_ node: Node, _ link: any RedisCalls, rights context: RightsContext) {
        let (figures, health, limits, keys) = (node.figures, node.health, node.limits, node.keys)
        let rights = RevocationPoller(context)
        self.rights = rights
        relaySecret = RelaySecret(key: keys.nodeSecret, link: link, log: node.log) { node.useRelaySecret($0) }
        load = LoadWatch(
            figures.loads, health: health, log: node.log, prefix: keys.prefix, intervalMs: limits.redisLoadCheckMs)
        outbox = OutboxInquiry(
            figures.outbox, health: health, link: link, keys: keys, script: node.scripts.outboxFigures)
        servers = ServerWatch(figures.servers, health: health, intervalMs: 2 * limits.redisProbeMs)
        workers = WorkerInquiry(
            figures.workers, health: health, link: link, keys: keys, graceMs: limits.workersMissingMs)
        calls = CallsInquiry(figures.calls, link: link, keys: keys, services: node.library.catalogue.services)
        nodes = NodeWatch(
            figures.nodes, link: link, keys: keys, clock: node.clock, log: node.log, everyMs: limits.redisProbeMs)
        nodes.onLearned = { health.set(.clock, NodeWatches.clockState($0)) }
        // Revocations are read once the time is known, and until they are read no token counts.
        nodes.onSettled = { rights.linkIsNew() }
    }

    /// The state of the row `clock`: red where this machine alone is wrong.
    private static func clockState(_ book: NodeBook) -> RowState {
        let figures = [("offsetMs", "\(book.offsetMs ?? 0)"), ("others", "\(book.others.count)")]
        guard let mend = book.verdict?.mend else { return .fine(figures: figures) }
        return book.isAlone ? .red(mend: mend, figures: figures) : .warned(mend: mend, figures: figures)
    }

    /// The link to Redis is new, and may lead to another server.
    func linkIsNew(nowMs: Int) {
        nodes.linkIsNew(nowMs: nowMs)
        relaySecret.linkIsNew()
    }

    /// Looks at everything that is due; called four times a second with the masters that answer now.
    func sweep(_ masters: [LoadWatch.Master], nowMs: Int) {
        nodes.work(nowMs: nowMs)
        rights.sweep()
        relaySecret.sweep()
        load.sweep(masters, nowMs: nowMs)
        outbox.sweep(nowMs: nowMs)
        servers.sweep(masters, nowMs: nowMs)
        workers.sweep(nowMs: nowMs)
        calls.sweep(nowMs: nowMs)
    }

    /// The node ends: its entry in Redis goes.
    func leave() { nodes.leave() }
}
