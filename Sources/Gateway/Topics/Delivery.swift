import Core
import Dialects
import Transport
import WebSocketCodec

/// One event on its way to the members of a shard: encoded once per dialect, then shared by reference.
///
/// Thread: the shard's.
final class Delivery: OutboundItem {
    let topic: Topic
    let message: ChannelMessage
    private var frames: [[UInt8]?]

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
}
