import Core

/// Writes native messages: literals, topics, names and numbers are appended as bytes, payloads spliced unread.
enum NativeEncoder {
    static func encode(
        _ message: ServerMessage, ref: Reference?, _ socket: NativeSocket = .plain
    ) -> [UInt8] {
        // Native clients cannot ask for it.
        if case .replayed = message { return [] }
        var text: [UInt8] = []
        text.reserveCapacity(256)
        text.append(text: "{\"event\":\"")
        text.append(text: eventName(of: message) ?? "ack")
        text.append(text: "\"")
        if let topic = topic(of: message) { text.append(member: "topic", string: topic.bytes) }
        if message != .pong {
            text.append(member: "data")
            append(dataOf: message, namesTopic: false, socket, to: &text)
        }
        if let ref { text.append(member: "ref", json: ref.bytes) }
        text.append(UInt8(ascii: "}"))
        return text
    }

    /// The name of a message; `nil` for the answer to a command or a publish, and for a replay.
    static func eventName(of message: ServerMessage) -> StaticString? {
        switch message {
        case .authenticated: "authenticated"
        case .subscribed: "subscribed"
        case .unsubscribed: "unsubscribed"
        case .ack, .published, .replayed: nil
        case .pong: "pong"
        case .gap: "gap"
        case .draining: "draining"
        case .tokenExpiring: "token:expiring"
        case .warning: "warning"
        case .presence(_, let members): members == nil ? "error" : "presence"
        case .error: "error"
        }
    }

    /// The topic that a message carries beside its data.
    private static func topic(of message: ServerMessage) -> Topic? {
        switch message {
        case .subscribed(let topic, _, _, _), .unsubscribed(let topic), .presence(let topic, _), .gap(let topic, _, _):
            topic
        case .error(_, _, let topic, _): topic
        case .authenticated, .ack, .published, .pong, .replayed, .draining, .tokenExpiring, .warning: nil
        }
    }

    /// Appends the data of a message: an object, with the topic of a gap or an error if `namesTopic`.
    static func append(
        dataOf message: ServerMessage, namesTopic: Bool, _ socket: NativeSocket, to text: inout [UInt8]
    ) {
        switch message {
        case .ack(let data): return text.append(contentsOf: data)
        case .presence(let topic, let members?):
            return text.append(contentsOf: NativePresence.state(topic, members, socket))
        case .presence(let topic, nil):
            return append(dataOf: NativePresence.none(topic), namesTopic: namesTopic, socket, to: &text)
        default: text.append(UInt8(ascii: "{"))
        }
        switch message {
        case .authenticated(let userID, let expiresAt):
            text.append(member: "userId", string: userID)
            text.append(member: "expiresAt", number: expiresAt)
        case .subscribed(let topic, let position, let recovered, let state):
            append(spellingsOf: topic, socket, to: &text)
            append(position, to: &text)
            text.append(text: recovered ? ",\"recovered\":true" : ",\"recovered\":false" as StaticString)
            if let state { text.append(member: "state", json: state) }
        case .unsubscribed(let topic): append(spellingsOf: topic, socket, to: &text)
        case .published(let position): append(position, to: &text)
        case .gap(let topic, let position, let reason):
            if namesTopic { append(spellingsOf: topic, to: &text) }
            if let position { append(position, to: &text) }
            text.append(member: "reason", string: reason.rawValue)
        case .draining(let reconnectAfterMs): text.append(member: "reconnectAfterMs", number: reconnectAfterMs)
        case .tokenExpiring(let expiresAt): text.append(member: "expiresAt", number: expiresAt)
        case .warning(let code, let message, let perSecond):
            text.append(member: "code", string: code.rawValue)
            text.append(member: "message", string: message)
            text.append(member: "perSecond", number: perSecond)
        case .error(let code, let message, let topic, let retryAfterMs):
            text.append(member: "code", string: code)
            text.append(member: "message", string: message)
            if namesTopic, let topic { text.append(member: "topic", string: topic.bytes) }
            if let retryAfterMs { text.append(member: "retryAfterMs", number: retryAfterMs) }
        case .ack, .pong, .presence, .replayed: break
        }
        text.append(UInt8(ascii: "}"))
    }

    // MARK: Parts

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

    /// Appends the members `"epoch":"k3x9","offset":17`.
    static func append(_ position: Position, to text: inout [UInt8]) {
        text.append(member: "epoch", string: position.epoch)
        text.append(member: "offset", number: position.offset)
    }
}
