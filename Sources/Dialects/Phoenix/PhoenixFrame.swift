import Core

/// The fields that every frame of a client has, in either version.
struct PhoenixFrame {
    /// The content of the frame.
    enum Payload {
        /// A JSON value, most often an object.
        case json(JSON.Value)
        /// A broadcast in a binary frame (kind 3): its event and its own payload.
        case broadcast(event: [UInt8], BroadcastData)
        /// Bytes that no event of the gateway accepts (kind 0).
        case bytes
    }

    /// The payload of a broadcast in a binary frame.
    enum BroadcastData {
        case json([UInt8])
        case bytes([UInt8])
    }

    /// The join's and the frame's own reference as JSON text; empty for `null`.
    let joinRef: [UInt8]
    let ref: [UInt8]
    /// The channel, such as `realtime:order:42`.
    let topic: [UInt8]
    let event: [UInt8]
    let payload: Payload

    /// The payload's members; `nil` when it is no object.
    var object: JSON.Value? {
        guard case .json(let value) = payload, value.kind == .object else { return nil }
        return value
    }

    /// The most bytes of a topic, an event, and a reference as JSON text; the limit of a binary frame's length byte.
    static let fieldBytesMax = 255
}

/// Reads frames; `nil` for a malformed frame, which is dropped without ending the connection.
struct PhoenixFrameDecoder {
    let version: PhoenixVersion
    let json: JSON.Limits

    func decode(_ message: [UInt8], as kind: MessageKind) -> PhoenixFrame? {
        switch (version, kind) {
        case (_, .text): text(message)
        case (.v2, .binary): binary(message)
        case (.v1, .binary): nil
        }
    }

    // MARK: Text

    private func text(_ message: [UInt8]) -> PhoenixFrame? {
        guard let root = try? JSON(parsing: message, limits: json).root else { return nil }
        switch version {
        case .v1:
            // `ref` may be null, but it must be present.
            guard root.kind == .object, let ref = root["ref"] else { return nil }
            return frame(joinRef: root["join_ref"], ref: ref, root["topic"], root["event"], root["payload"])
        case .v2:
            guard root.kind == .array else { return nil }
            var elements = root.members
            guard let joinRef = elements.next(), let ref = elements.next(), let topic = elements.next(),
                let event = elements.next(), let payload = elements.next()
            else { return nil }
            return frame(joinRef: joinRef, ref: ref, topic, event, payload)
        }
    }

    private func frame(
        joinRef: JSON.Value?, ref: JSON.Value, _ topic: JSON.Value?, _ event: JSON.Value?, _ payload: JSON.Value?
    ) -> PhoenixFrame? {
        guard let joinRef = reference(joinRef), let ref = reference(ref), let topic = field(topic),
            let event = field(event), let payload
        else { return nil }
        return PhoenixFrame(joinRef: joinRef, ref: ref, topic: topic, event: event, payload: .json(payload))
    }

    /// The exact text of a string or a number; empty for `null` and for an absent value.
    private func reference(_ value: JSON.Value?) -> [UInt8]? {
        guard let value, value.kind != .null else { return [] }
        guard value.kind == .string || value.kind == .number, value.raw.count <= PhoenixFrame.fieldBytesMax else {
            return nil
        }
        return Array(value.raw)
    }

    private func field(_ value: JSON.Value?) -> [UInt8]? {
        guard let text = value?.stringBytes, text.count <= PhoenixFrame.fieldBytesMax else { return nil }
        return text
    }

    // MARK: Binary

    /// Reads kind 3, a broadcast, and kind 0, a generic push; only the gateway sends other kinds.
    private func binary(_ message: [UInt8]) -> PhoenixFrame? {
        switch message.first {
        case 3: return broadcast(message)
        case 0: return push(message)
        default: return nil
        }
    }

    private func broadcast(_ message: [UInt8]) -> PhoenixFrame? {
        // 3, five lengths, the encoding; then join_ref, ref, topic, event, metadata, and the payload to the end.
        guard message.count >= 7, let fields = fields(of: message, lengths: 1..<6, from: 7),
            let joinRef = reference(text: fields[0]), let ref = reference(text: fields[1]),
            UTF8Text.isValid(fields[2]), UTF8Text.isValid(fields[3])
        else { return nil }
        let payload = Array(message[(7 + fields.reduce(0) { $0 + $1.count })...])
        return PhoenixFrame(
            joinRef: joinRef, ref: ref, topic: fields[2], event: Array("broadcast".utf8),
            payload: .broadcast(event: fields[3], message[6] == 0 ? .bytes(payload) : .json(payload)))
    }

    private func push(_ message: [UInt8]) -> PhoenixFrame? {
        guard message.count >= 5, let fields = fields(of: message, lengths: 1..<5, from: 5),
            let joinRef = reference(text: fields[0]), let ref = reference(text: fields[1]),
            UTF8Text.isValid(fields[2]), UTF8Text.isValid(fields[3])
        else { return nil }
        return PhoenixFrame(joinRef: joinRef, ref: ref, topic: fields[2], event: fields[3], payload: .bytes)
    }

    /// Cuts consecutive fields; `nil` when their lengths announce more bytes than the message has.
    private func fields(of message: [UInt8], lengths: Range<Int>, from start: Int) -> [[UInt8]]? {
        var place = start
        var fields: [[UInt8]] = []
        for index in lengths {
            let end = place + Int(message[index])
            guard end <= message.count else { return nil }
            fields.append(Array(message[place..<end]))
            place = end
        }
        return fields
    }

    /// The reference of a binary frame as JSON text; an empty one is `null`.
    private func reference(text: [UInt8]) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        guard UTF8Text.isValid(text) else { return nil }
        var quoted: [UInt8] = []
        quoted.append(jsonString: text)
        return quoted.count <= PhoenixFrame.fieldBytesMax ? quoted : nil
    }
}
