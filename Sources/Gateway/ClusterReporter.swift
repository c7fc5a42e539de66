import Operations
import Reactors
import RedisLink

/// Reports a shard's links to the masters of a cluster to the broker: each connection, and each new failure.
///
/// Thread: the shard's.
final class ClusterReporter {
    private let bus: Mailbox<BusMessage>
    private let shard: Int
    private var told: [[UInt8]: LinkReport] = [:]

    init(_ bus: Mailbox<BusMessage>, shard: Int) {
        self.bus = bus
        self.shard = shard
    }

    /// Reports a new connection, even to the same server as before, since every one must be proven.
    func connected(_ node: [UInt8], _ facts: ServerFacts) {
        told[node] = nil
        tell(node, .up(runID: facts.runID))
    }

    /// The broker has restarted the proof of a master.
    func again(_ node: [UInt8], at link: ClusterLink) {
        told[node] = nil
        look(at: link)
    }

    /// Reports that the map may be out of date.
    func stale(_ address: ClusterAddress?) {
        // When the mailbox is full, the next redirected call reports it again.
        _ = bus.send(.mapIsStale(address))
    }

    /// Reports changes; called now and then.
    func look(at link: ClusterLink) {
        let linked = Set(link.linkedNodes)
        told = told.filter { linked.contains($0.key) }
        for node in linked {
            tell(node, link.facts(node).map { .up(runID: $0.runID) } ?? .down(link.link(to: node)?.lastFailure))
        }
    }

    /// The links have ended with their shard.
    func ended() {
        for node in told.keys { tell(node, .ended) }
    }

    private func tell(_ node: [UInt8], _ report: LinkReport) {
        guard report != told[node], bus.send(.master(shard: shard, node, report)) else { return }
        told[node] = report
    }
}
