import Reactors
import RedisLink

/// Tells the broker of a shard's command link: each connection, and each change of what it fails of.
///
/// Thread: the shard's.
final class LinkNews {
    private let broker: Mailbox<BrokerMessage>
    private let shard: Int
    private var told: LinkReport?
    /// Runs when a connection is ready; set once the topics are there.
    var onConnected: () -> Void = {}

    init(_ broker: Mailbox<BrokerMessage>, shard: Int) {
        self.broker = broker
        self.shard = shard
    }

    /// A connection is ready; told even when the last one led to the same server, since every one must be proven.
    func connected(_ facts: ServerFacts) {
        told = nil
        tell(.up(runID: facts.runID))
        onConnected()
    }

    /// Called now and then: tells what is not told yet.
    func look(at link: CallLink) {
        tell(link.facts.map { .up(runID: $0.runID) } ?? .down(link.lastFailure))
    }

    /// The link has ended with its shard.
    func ended() {
        tell(.ended)
    }

    private func tell(_ report: LinkReport) {
        guard report != told, broker.send(.link(shard: shard, report)) else { return }
        told = report
    }
}
