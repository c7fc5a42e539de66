import Core
import Dialects
import Rights
import Transport

/// One event on its way to the members of a shard: written once per encoding, then shared by reference.
///
/// Thread: the shard's.
final class Delivery: OutboundItem {
    let topic: Topic
    let message: ChannelMessage
    /// The encoding asked for first, mostly the only one, and its bytes.
    private var firstNumber = -1
    private var firstFrame: [UInt8] = []
    private var otherFrames: [(number: Int, frame: [UInt8])] = []
    private var knownRule: SlowRule?
    /// Whether one client alone is sent it.
    let isForOne: Bool

    /// What may be done with it in the queue of a client that reads too slowly.
    enum SlowRule: Equatable {
        /// Nothing: the client is closed and resumes by position.
        case disconnect
        /// It gives way to a newer event of the same key; without a key it stays.
        case conflate(ConflationKey?)
    }

    /// `counts` are those of the topic on its shard.
    init(topic: Topic, message: ChannelMessage, counts: OutboundCounts, isForOne: Bool = false) {
        self.topic = topic
        self.message = message
        self.isForOne = isForOne
        super.init(counts: counts)
    }

    /// The bytes of the event in an encoding.
    func frame(_ encoding: Encoding) -> [UInt8] {
        if firstNumber == encoding.number { return firstFrame }
        for other in otherFrames where other.number == encoding.number { return other.frame }
        let plain = encoding.plain
        let frame = plain === encoding ? encoding.frame(topic, message) : encoding.deflated(frame(plain))
        if firstNumber < 0 {
            (firstNumber, firstFrame) = (encoding.number, frame)
        } else {
            otherFrames.append((encoding.number, frame))
        }
        return frame
    }

    /// The rule of its namespace; found out when first asked for, which only slow clients do.
    func slowRule(_ access: AccessPolicy, _ json: JSON.Limits) -> SlowRule {
        if let knownRule { return knownRule }
        var rule = SlowRule.disconnect
        if let policy = access.policy(of: topic), policy.slow == .conflate {
            let key = policy.conflate[message.event].flatMap { by in
                ConflationKey(topic: topic, event: message.event, data: message.data, by: by, json: json)
            }
            rule = .conflate(key)
        }
        knownRule = rule
        return rule
    }
}
