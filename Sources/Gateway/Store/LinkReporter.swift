import Operations
import Reactors
import RedisLink

/// Reports a shard's command link to the broker: each connection, and each new failure.
///
/// Thread: the shard's.
final class LinkReporter {
    private let bus: Mailbox<BusMessage>
    private let shard: Int
    private var told: LinkReport?
    /// Called when a connection is ready; set once the topics exist.
    var onConnected: () -> Void = {}

    init(_ bus: Mailbox<BusMessage>, shard: Int) {
        self.bus = bus
        self.shard = shard
    }

    /// Reports a new connection, even to the same server as before, since every one must be proven.
    func connected(_ facts: ServerFacts) {
        told = nil
        tell(.up(runID: facts.runID))
        onConnected()
    }

    /// Reports changes; called now and then.
    func look(at link: CallLink) {
        tell(link.facts.map { .up(runID: $0.runID) } ?? .down(link.lastFailure))
    }

    /// The link has ended with its shard.
    func ended() {
        tell(.ended)
    }

    private func tell(_ report: LinkReport) {
        guard report != told, bus.send(.link(shard: shard, report)) else { return }
        told = report
    }
}
