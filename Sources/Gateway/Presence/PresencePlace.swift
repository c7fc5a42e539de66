import Core
import Dialects
import Transport

/// One topic's presence on one shard: the room, and the sessions that watch it or are in it.
///
/// Thread: the shard's.
final class PresencePlace {
    /// A session that is told who is here.
    struct Watcher {
        let session: Session
        /// The first of the ``rounds`` that concerns it: what was told before is in what it was told first.
        let since: Int
    }

    /// Changes on their way to the watchers, some of them at a time.
    struct Round {
        let number: Int
        let deliveries: [Delivery]
        var watchers: [Watcher]
        /// How many watchers one slice serves.
        let slice: Int
    }

    typealias Answer = (Result<PresenceID, Refusal>) -> Void

    /// A session that waits to hear that its entry is written.
    struct Asking {
        /// Monotonic milliseconds.
        let sinceMs: Int
        let answer: Answer
    }

    let topic: Topic
    var room: PresenceRoom
    var watchers: [ObjectIdentifier: Watcher] = [:]
    var tracked: [ObjectIdentifier: PresenceID] = [:]
    /// Who waits to hear that an entry is written.
    var asking: [PresenceID: [Asking]] = [:]
    /// Tells the read under way from one that was given up.
    var reading = 0
    /// When the set may be read again after a failure, monotonic milliseconds.
    var readAtMs = 0
    /// When changes may be sent to Redis, and told to clients.
    var sendAtMs = 0
    var tellAtMs = 0
    /// When the set is to be kept alive.
    var renewAtMs: Int
    /// Whether the first watchers have been told who is here.
    var hasTold = false
    /// Whether the topic's channel is confirmed, so that no news is missed from now on.
    var isListening = true
    /// The version that Redis told by an answer, and when it must have come by the channel.
    var expected: (version: Position?, byMs: Int)?
    var round: Round?
    var rounds = 0
    /// Who is here in the words of an encoding, as was told last.
    private var written: [(number: Int, text: [UInt8]?)] = []

    init(_ topic: Topic, node: [UInt8], shard: Int, renewAtMs: Int) {
        self.topic = topic
        self.renewAtMs = renewAtMs
        room = PresenceRoom(node: node, shard: shard)
    }

    /// Who is here as clients of an encoding are told; written once until it changes.
    func text(_ encoding: Encoding) -> [UInt8]? {
        let plain = encoding.plain
        if let known = written.first(where: { $0.number == plain.number }) { return known.text }
        let text = plain.presence(topic, room.told)
        written.append((plain.number, text))
        return text
    }

    /// Clients are told something else from now on.
    func forgetText() {
        written = []
    }

    /// Whether nobody needs it any more.
    var isIdle: Bool { watchers.isEmpty && tracked.isEmpty && room.isIdle }
}
