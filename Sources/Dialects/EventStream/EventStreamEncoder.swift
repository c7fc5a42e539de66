public import Core

/// Writes events and gaps as records of an event stream.
public struct EventStreamEncoder: EventEncoder {
    private let tellsPosition: Bool

    /// `tellsPosition`: the record carries the event's position, as the `id` of a stream of one topic.
    init(tellsPosition: Bool) {
        self.tellsPosition = tellsPosition
    }

    /// `stream`, or `streams` for several topics.
    public var name: String { tellsPosition ? "stream" : "streams" }

    /// Writes `event: queue:update`, and the native message as `data`.
    public func event(_ topic: Topic, _ message: ChannelMessage) -> [WireUnit] {
        let id = tellsPosition ? message.position?.text : nil
        let data = NativeEventEncoder().event(topic, message)[0].bytes
        return [WireUnit(.text, EventStreamRecord.bytes(event: message.event.bytes, id: id, data: data))]
    }

    /// Writes `event: gap`.
    public func gap(_ topic: Topic, _ position: Position?, _ reason: GapReason) -> [WireUnit] {
        let message = ServerMessage.gap(topic: topic, position: position, reason: reason)
        let data = NativeEncoder.encode(message, ref: nil)
        let id = tellsPosition ? position?.text : nil
        return [WireUnit(.text, EventStreamRecord.bytes(event: Array("gap".utf8), id: id, data: data))]
    }
}
