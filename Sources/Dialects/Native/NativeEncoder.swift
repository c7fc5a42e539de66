import Core

/// Writes native messages: literals, topics, names and numbers are appended as bytes, payloads spliced unread.
enum NativeEncoder {
    static func encode(
        _ message: ServerMessage, ref: Reference?, _ socket: NativeSocket = .plain
    ) -> [UInt8] {
        switch message {
        case .authenticated(let userID, let expiresAt):
            return authenticated(userID, expiresAt, ref)
        case .subscribed(let topic, let position, let recovered, let state):
            return subscribed(topic, position, recovered, state, ref, socket)
        case .unsubscribed(let topic):
            return unsubscribed(topic, ref, socket)
        case .ack(let data):
            return ack(data, ref)
        case .published(let position):
            return published(position, ref)
        case .pong:
            var text = Array("{\"event\":\"pong\"".utf8)
            finish(&text, ref)
            return text
        case .gap(let topic, let position, let reason):
            return gap(topic, position, reason, ref)
        case .draining(let reconnectAfterMs):
            return number("{\"event\":\"draining\",\"data\":{\"reconnectAfterMs\":", reconnectAfterMs, ref)
        case .tokenExpiring(let expiresAt):
            return number("{\"event\":\"token:expiring\",\"data\":{\"expiresAt\":", expiresAt, ref)
        case .warning(let code, let message, let perSecond):
            return warning(code, message, perSecond, ref)
        case .presence(let topic, let members?):
            return presence(topic, members, ref, socket)
        case .presence(let topic, nil):
            return encode(NativePresence.none(topic), ref: ref)
        case .error(let code, let message, let topic, let retryAfterMs):
            return error(code, message, topic, retryAfterMs, ref)
        case .replayed:
            // Native clients cannot ask for it.
            return []
        }
    }

    private static func authenticated(_ userID: [UInt8], _ expiresAt: Int, _ ref: Reference?) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(160 + userID.count)
        text.append(text: "{\"event\":\"authenticated\",\"data\":{\"userId\":")
        text.append(jsonString: userID)
        text.append(text: ",\"expiresAt\":")
        text.append(decimal: expiresAt)
        text.append(text: "}")
        finish(&text, ref)
        return text
    }

    private static func subscribed(
        _ topic: Topic, _ position: Position, _ recovered: Bool, _ state: [UInt8]?, _ ref: Reference?,
        _ socket: NativeSocket
    ) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(256 + 3 * topic.bytes.count + (state?.count ?? 0))
        text.append(text: "{\"event\":\"subscribed\"")
        append(topic, to: &text)
        text.append(text: ",\"data\":{")
        append(spellingsOf: topic, socket, to: &text)
        text.append(text: ",")
        append(position, to: &text)
        text.append(text: ",\"recovered\":")
        text.append(text: recovered ? "true" : "false" as StaticString)
        if let state {
            text.append(text: ",\"state\":")
            text.append(contentsOf: state)
        }
        text.append(text: "}")
        finish(&text, ref)
        return text
    }

    private static func unsubscribed(_ topic: Topic, _ ref: Reference?, _ socket: NativeSocket) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(160 + 3 * topic.bytes.count)
        text.append(text: "{\"event\":\"unsubscribed\"")
        append(topic, to: &text)
        text.append(text: ",\"data\":{")
        append(spellingsOf: topic, socket, to: &text)
        text.append(text: "}")
        finish(&text, ref)
        return text
    }

    private static func presence(
        _ topic: Topic, _ members: [UInt8], _ ref: Reference?, _ socket: NativeSocket
    ) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(192 + 3 * topic.bytes.count + members.count)
        text.append(text: "{\"event\":\"presence\"")
        append(topic, to: &text)
        text.append(text: ",\"data\":")
        text.append(contentsOf: NativePresence.state(topic, members, socket))
        finish(&text, ref)
        return text
    }

    private static func ack(_ data: [UInt8], _ ref: Reference?) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(32 + data.count + NativeDialect.referenceBytesMax)
        text.append(text: "{\"event\":\"ack\",\"data\":")
        text.append(contentsOf: data)
        finish(&text, ref)
        return text
    }

    private static func published(_ position: Position, _ ref: Reference?) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(160)
        text.append(text: "{\"event\":\"ack\",\"data\":{")
        append(position, to: &text)
        text.append(text: "}")
        finish(&text, ref)
        return text
    }

    private static func gap(_ topic: Topic, _ position: Position?, _ reason: GapReason, _ ref: Reference?) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(192 + topic.bytes.count)
        text.append(text: "{\"event\":\"gap\"")
        append(topic, to: &text)
        text.append(text: ",\"data\":{")
        if let position {
            append(position, to: &text)
            text.append(text: ",")
        }
        text.append(text: "\"reason\":\"")
        text.append(text: reason.rawValue)
        text.append(text: "\"}")
        finish(&text, ref)
        return text
    }

    private static func warning(
        _ code: ErrorCode, _ message: String, _ perSecond: Int, _ ref: Reference?
    ) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(160 + message.utf8.count)
        text.append(text: "{\"event\":\"warning\",\"data\":{\"code\":")
        text.append(jsonString: code.rawValue)
        text.append(text: ",\"message\":")
        text.append(jsonString: message)
        text.append(text: ",\"perSecond\":")
        text.append(decimal: perSecond)
        text.append(text: "}")
        finish(&text, ref)
        return text
    }

    private static func error(
        _ code: String, _ message: String, _ topic: Topic?, _ retryAfterMs: Int?, _ ref: Reference?
    ) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(160 + message.utf8.count + (topic?.bytes.count ?? 0))
        text.append(text: "{\"event\":\"error\"")
        if let topic { append(topic, to: &text) }
        text.append(text: ",\"data\":{\"code\":")
        text.append(jsonString: code)
        text.append(text: ",\"message\":")
        text.append(jsonString: message)
        if let retryAfterMs {
            text.append(text: ",\"retryAfterMs\":")
            text.append(decimal: retryAfterMs)
        }
        text.append(text: "}")
        finish(&text, ref)
        return text
    }

    private static func number(_ head: StaticString, _ value: Int, _ ref: Reference?) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(96)
        text.append(text: head)
        text.append(decimal: value)
        text.append(text: "}")
        finish(&text, ref)
        return text
    }

    // MARK: Parts

    /// Appends `,"topic":"shop:42"`.
    private static func append(_ topic: Topic, to text: inout [UInt8]) {
        text.append(text: ",\"topic\":\"")
        text.append(contentsOf: topic.bytes)
        text.append(text: "\"")
    }

    /// Appends `"topic":"shop:42","shopId":"42"`, so that a client that knows only its `shopId` finds the topic again.
    ///
    /// The socket's other names of the topic follow.
    static func append(spellingsOf topic: Topic, _ socket: NativeSocket = .plain, to text: inout [UInt8]) {
        text.append(text: "\"topic\":\"")
        text.append(contentsOf: topic.bytes)
        text.append(text: "\",\"")
        TopicAlias.append(namespace: topic.namespace, to: &text)
        text.append(text: "\":\"")
        text.append(contentsOf: topic.id)
        text.append(text: "\"")
        for member in socket.members(of: topic.namespace) {
            text.append(text: ",\"")
            text.append(contentsOf: member.utf8)
            text.append(text: "\":\"")
            text.append(contentsOf: topic.id)
            text.append(text: "\"")
        }
    }

    /// Appends `"epoch":"k3x9","offset":17`.
    static func append(_ position: Position, to text: inout [UInt8]) {
        text.append(text: "\"epoch\":\"")
        text.append(contentsOf: position.epoch)
        text.append(text: "\",\"offset\":")
        text.append(decimal: position.offset)
    }

    /// Adds the reference and the last brace.
    private static func finish(_ text: inout [UInt8], _ ref: Reference?) {
        if let ref {
            text.append(text: ",\"ref\":")
            text.append(contentsOf: ref.bytes)
        }
        text.append(UInt8(ascii: "}"))
    }
}
