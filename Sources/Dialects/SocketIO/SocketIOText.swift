import Core

/// The texts that the gateway writes: an Engine.IO message that holds one Socket.IO packet.
enum SocketIOText {
    /// Begins a packet: `4`, the type, the count of attachments if any, and the namespace unless it is the main one.
    static func begin(
        _ kind: SocketIOPacket.Kind, attachments: Int = 0, _ namespace: [UInt8], capacity: Int
    ) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(capacity + namespace.count + 3)
        text.append(EnginePacket.Kind.message.rawValue)
        text.append(kind.rawValue)
        if attachments > 0 {
            text.append(decimal: attachments)
            text.append(UInt8(ascii: "-"))
        }
        if namespace.count > 1 {
            text.append(contentsOf: namespace)
            text.append(UInt8(ascii: ","))
        }
        return text
    }

    /// The open packet, with exactly these members: the official suite accepts no others.
    static func open(sid: [UInt8], upgrades: Bool, _ settings: SocketIODialect.Settings) -> [UInt8] {
        var text = Array("0{\"sid\":\"".utf8)
        text.append(contentsOf: sid)
        text.append(text: "\",\"upgrades\":")
        text.append(text: upgrades ? "[\"websocket\"]" : "[]" as StaticString)
        text.append(member: "pingInterval", number: settings.pingIntervalMs)
        text.append(member: "pingTimeout", number: settings.pingTimeoutMs)
        text.append(member: "maxPayload", number: settings.payloadBytesMax)
        text.append(text: "}")
        return text
    }

    /// `40/queue,{"sid":"..."}`, and `"pid":"..."` for a client that may recover.
    static func connected(_ namespace: [UInt8], sid: [UInt8], pid: [UInt8] = []) -> [UInt8] {
        var text = begin(.connect, namespace, capacity: 24 + sid.count + pid.count)
        text.append(text: "{\"sid\":\"")
        text.append(contentsOf: sid)
        if !pid.isEmpty {
            text.append(text: "\",\"pid\":\"")
            text.append(contentsOf: pid)
        }
        text.append(text: "\"}")
        return text
    }

    /// `44/queue,{"message":"...","data":{"code":"..."}}`; an unknown namespace has no code, as on other servers.
    static func refused(_ namespace: [UInt8], _ refusal: Refusal?) -> [UInt8] {
        var text = begin(.connectError, namespace, capacity: 160)
        text.append(UInt8(ascii: "{"))
        text.append(member: "message", string: refusal?.message ?? "Invalid namespace")
        guard let refusal else { return text + [UInt8(ascii: "}")] }
        text.append(text: ",\"data\":{")
        text.append(member: "code", string: refusal.name)
        if let retryAfterMs = refusal.retryAfterMs { text.append(member: "retryAfterMs", number: retryAfterMs) }
        text.append(text: "}}")
        return text
    }

    /// `41/queue,`.
    static func disconnected(_ namespace: [UInt8]) -> [UInt8] { begin(.disconnect, namespace, capacity: 0) }

    /// `43/queue,13[...]` with one argument; with bytes in it `461-/queue,13[...]`, and the bytes.
    static func ack(_ namespace: [UInt8], _ ackID: Int, _ argument: [UInt8]) -> [WireUnit] {
        let (argument, bytes) = SocketIOBytes.taken(from: argument) ?? (argument, [])
        var text = begin(
            bytes.isEmpty ? .ack : .binaryAck, attachments: bytes.count, namespace, capacity: 26 + argument.count)
        text.append(decimal: ackID)
        text.append(text: "[")
        text.append(contentsOf: argument)
        text.append(text: "]")
        return units(text, bytes)
    }

    /// A packet and its attachments, which follow it at once.
    static func units(_ text: [UInt8], _ attachments: [[UInt8]]) -> [WireUnit] {
        guard !attachments.isEmpty else { return [WireUnit(.text, text)] }
        return [WireUnit(.text, text)] + attachments.map { WireUnit(.binary, $0) }
    }

    /// `42/queue,["error",{...}]`; the name needs no escapes.
    static func event(_ namespace: [UInt8], _ name: String, _ argument: [UInt8]) -> [WireUnit] {
        let (argument, bytes) = SocketIOBytes.taken(from: argument) ?? (argument, [])
        var text = begin(
            bytes.isEmpty ? .event : .binaryEvent, attachments: bytes.count, namespace, capacity: 26 + argument.count)
        text.append(text: "[\"")
        text.append(text: name)
        text.append(text: "\",")
        text.append(contentsOf: argument)
        text.append(text: "]")
        return units(text, bytes)
    }

    /// `{"topics":[{...},{...}]}`: the answers for several topics.
    static func batch(_ results: [[UInt8]]) -> [UInt8] {
        var text = Array("{\"topics\":".utf8)
        text.append(arrayOf: results) { $0 += $1 }
        return text + [UInt8(ascii: "}")]
    }
}
