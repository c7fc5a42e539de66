public import Core

/// Writes events for the members of one namespace: `42/queue,["queue:update",{...}]`.
///
/// With positions the event has a second argument, `{"topic":"shop:42","epoch":"k3x9","offset":18}`. A client asks for
/// it when it connects, since handlers for other servers take one argument, and some fail with two.
public struct SocketIOEventEncoder: EventEncoder {
    private let namespace: [UInt8]
    private let positions: Bool

    /// The encoder of a namespace.
    public init(namespace: [UInt8], positions: Bool) {
        self.namespace = namespace
        self.positions = positions
    }

    /// `socketio/queue`, or `socketio/queue+positions`.
    public var name: String {
        "socketio" + String(decoding: namespace, as: UTF8.self) + (positions ? "+positions" : "")
    }

    /// Writes the event; its bytes are attachments after it.
    public func event(_ topic: Topic, _ message: ChannelMessage) -> [WireUnit] {
        let (data, bytes) = SocketIOBytes.taken(from: message.data) ?? (message.data, [])
        let extra = positions ? 80 + topic.bytes.count + (message.position?.epoch.count ?? 0) : 0
        var text = SocketIOText.begin(
            bytes.isEmpty ? .event : .binaryEvent, attachments: bytes.count, namespace,
            capacity: 10 + message.event.bytes.count + data.count + extra)
        text.append(text: "[\"")
        text.append(contentsOf: message.event.bytes)
        text.append(text: "\",")
        text.append(contentsOf: data)
        if positions {
            text.append(text: ",{\"topic\":\"")
            text.append(contentsOf: topic.bytes)
            text.append(text: "\"")
            if let position = message.position { NativeEncoder.append(position, to: &text) }
            text.append(text: "}")
        }
        text.append(UInt8(ascii: "]"))
        return SocketIOText.units(text, bytes)
    }

    /// Writes the list of the event `presence`.
    public func presence(_ topic: Topic, _ members: [PresenceMember]) -> [UInt8]? { NativePresence.list(members) }

    /// Writes the event `presence` of a change.
    public func presence(_ topic: Topic, _ change: PresenceChange) -> [WireUnit] {
        SocketIOText.event(namespace, "presence", NativePresence.change(topic, change))
    }

    /// Writes the event `gap`.
    public func gap(_ topic: Topic, _ position: Position?, _ reason: GapReason) -> [WireUnit] {
        let message = ServerMessage.gap(topic: topic, position: position, reason: reason)
        return SocketIOText.event(namespace, "gap", SocketIOAnswer.argument(of: message))
    }
}
