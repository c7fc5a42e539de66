import Core
import Dialects
import Rights
import Transport
import WebSocketCodec

/// One event on its way to the members of a shard: encoded once per dialect, then shared by reference.
///
/// Thread: the shard's.
final class Delivery: OutboundItem {
    let topic: Topic
    let message: ChannelMessage
    private var frames: [[UInt8]?]
    private var knownRule: SlowRule?

    /// What may be done with it in the queue of a client that reads too slowly.
    enum SlowRule: Equatable {
        /// Nothing: the client is closed and resumes by position.
        case disconnect
        /// It gives way to a newer event of the same key; without a key it stays.
        case conflate(ConflationKey?)
    }

    /// `counts` are those of the topic on its shard.
    init(topic: Topic, message: ChannelMessage, variants: Int, counts: OutboundCounts) {
        self.topic = topic
        self.message = message
        frames = Array(repeating: nil, count: variants)
        super.init(counts: counts)
    }

    /// The WebSocket frame of the event in a dialect.
    func frame(_ variant: Int, _ dialect: any Dialect) -> [UInt8] {
        if let frame = frames[variant] { return frame }
        let event = ServerMessage.event(
            topic: topic, name: message.event, data: message.data, offset: message.position?.offset)
        let frame = WebSocketEncoder.frame(.text, payload: dialect.encode(event, ref: nil))
        frames[variant] = frame
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
