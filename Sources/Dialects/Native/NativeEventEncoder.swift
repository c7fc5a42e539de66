public import Core

/// Writes native events, and gaps between them.
public struct NativeEventEncoder: EventEncoder {
    /// Makes the encoder, which has no settings.
    public init() {}

    /// `native`.
    public var name: String { "native" }

    /// Writes `{"topic":"shop:42","event":"queue:update","data":{...},"offset":18}`, in one exact allocation.
    public func event(_ topic: Topic, _ message: ChannelMessage) -> [WireUnit] {
        let punctuation = 10 + 11 + 9 + 1
        let offset = message.position?.offset
        var text: [UInt8] = []
        text.reserveCapacity(
            punctuation + topic.bytes.count + message.event.bytes.count + message.data.count
                + (offset.map { 10 + ASCII.decimalCount($0) } ?? 0))
        text.append(text: "{\"topic\":\"")
        text.append(contentsOf: topic.bytes)
        text.append(text: "\",\"event\":\"")
        text.append(contentsOf: message.event.bytes)
        text.append(text: "\",\"data\":")
        text.append(contentsOf: message.data)
        if let offset {
            text.append(text: ",\"offset\":")
            text.append(decimal: offset)
        }
        text.append(UInt8(ascii: "}"))
        return [WireUnit(.text, text)]
    }

    /// Writes the message `gap`.
    public func gap(_ topic: Topic, _ position: Position?, _ reason: GapReason) -> [WireUnit] {
        let message = ServerMessage.gap(topic: topic, position: position, reason: reason)
        return [WireUnit(.text, NativeEncoder.encode(message, ref: nil))]
    }

    /// Writes the list of the message `presence`.
    public func presence(_ topic: Topic, _ members: [PresenceMember]) -> [UInt8]? { NativePresence.list(members) }

    /// Writes the message `presence` of a change.
    public func presence(_ topic: Topic, _ change: PresenceChange) -> [WireUnit] {
        var text: [UInt8] = []
        text.append(text: "{\"topic\":\"")
        text.append(contentsOf: topic.bytes)
        text.append(text: "\",\"event\":\"presence\",\"data\":")
        text.append(contentsOf: NativePresence.change(topic, change))
        text.append(text: "}")
        return [WireUnit(.text, text)]
    }
}
