import Connections
public import Core
import Dialects
import Topics

/// One topic's presence on one shard: the known entries, and the sessions that watch the topic or are listed there.
///
/// Thread: the shard's.
public final class PresencePlace {
    /// A session that receives the presence of the topic.
    struct Watcher {
        let listener: any PresenceListener
        /// The first of the ``rounds`` that concerns it: the full list it received first contains everything earlier.
        let since: Int
    }

    /// Changes on their way to the watchers, some of them at a time.
    struct Round {
        let number: Int
        let deliveries: [Delivery]
        var watchers: [Watcher]
        /// Number of watchers that one slice serves.
        let slice: Int
    }

    /// Receives the entry's id once Redis has stored the entry, or the refusal.
    public typealias Answer = (Result<PresenceID, Refusal>) -> Void

    /// A request that waits until its entry is written.
    struct Asking {
        /// Monotonic milliseconds.
        let sinceMs: Int
        let answer: Answer
    }

    let topic: Topic
    var presence: TopicPresence
    var watchers: [ObjectIdentifier: Watcher] = [:]
    var tracked: [ObjectIdentifier: PresenceID] = [:]
    /// Requests that wait until an entry is written.
    var asking: [PresenceID: [Asking]] = [:]
    /// Distinguishes the read under way from one that was given up.
    var reading = 0
    /// When the set may be read again after a failure, monotonic milliseconds.
    var readAtMs = 0
    /// When changes may be sent to Redis, and to clients, monotonic milliseconds.
    var sendAtMs = 0
    var tellAtMs = 0
    /// When the set has to be kept alive, monotonic milliseconds.
    var renewAtMs: Int
    /// Whether the first watchers have received the list of members.
    var hasTold = false
    /// Whether the topic's channel is confirmed, so that no change is missed from now on.
    var isListening = true
    /// The version in Redis's last answer, and the time by which the channel must have delivered it.
    var expected: (version: Position?, byMs: Int)?
    var round: Round?
    var rounds = 0
    /// The list of members in each encoding, as last sent.
    private var written: [(number: Int, text: [UInt8]?)] = []

    init(_ topic: Topic, node: [UInt8], shard: Int, renewAtMs: Int) {
        self.topic = topic
        self.renewAtMs = renewAtMs
        presence = TopicPresence(node: node, shard: shard)
    }

    /// The list of members for clients of an encoding; written once until it changes.
    func text(_ encoding: Encoding) -> [UInt8]? {
        let plain = encoding.plain
        if let known = written.first(where: { $0.number == plain.number }) { return known.text }
        let text = plain.presence(topic, presence.reported)
        written.append((plain.number, text))
        return text
    }

    /// Discards the written lists, since the list has changed.
    func forgetText() {
        written = []
    }

    /// Whether no session needs it any more.
    var isIdle: Bool { watchers.isEmpty && tracked.isEmpty && presence.isIdle }
}
