import Core

/// A message to one client as an event's name and its one argument, or as an acknowledgement's argument.
///
/// The argument is the `data` of the native message of that name. The topic, which native messages carry beside their
/// data, is in the argument.
enum SocketIOAnswer {
    /// The event for a client that asked for no acknowledgement; `nil` for a message that is not sent then.
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

    /// The argument of an acknowledgement: the result, or `{"error":{...}}`.
    static func acknowledgement(_ message: ServerMessage, _ socket: NativeSocket = .plain) -> [UInt8] {
        guard case .error = message else { return argument(of: message, socket) }
        var text: [UInt8] = Array("{\"error\":".utf8)
        text.append(contentsOf: argument(of: message, socket))
        text.append(UInt8(ascii: "}"))
        return text
    }

    /// The answer for one of several topics: without the state, and with the topic of an error beside it.
    static func result(_ message: ServerMessage, _ socket: NativeSocket = .plain) -> [UInt8] {
        guard case .subscribed(let topic, let position, let recovered, _) = message else {
            return acknowledgement(message, socket)
        }
        return argument(of: .subscribed(topic: topic, position: position, recovered: recovered, state: nil), socket)
    }

    /// The event's argument; `socket` gives the client's names of topics.
    static func argument(of message: ServerMessage, _ socket: NativeSocket = .plain) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(256)
        text.append(UInt8(ascii: "{"))
        switch message {
        case .ack(let data):
            return data
        case .presence(let topic, let members):
            return members.map { NativePresence.state(topic, $0) } ?? argument(of: NativePresence.none(topic))
        case .authenticated(let userID, let expiresAt):
            text.append(text: "\"userId\":")
            text.append(jsonString: userID)
            append("expiresAt", expiresAt, to: &text)
        case .subscribed(let topic, let position, let recovered, let state):
            NativeEncoder.append(spellingsOf: topic, socket, to: &text)
            text.append(text: ",")
            NativeEncoder.append(position, to: &text)
            text.append(text: recovered ? ",\"recovered\":true" : ",\"recovered\":false" as StaticString)
            if let state {
                text.append(text: ",\"state\":")
                text.append(contentsOf: state)
            }
        case .unsubscribed(let topic):
            NativeEncoder.append(spellingsOf: topic, socket, to: &text)
        case .published(let position):
            NativeEncoder.append(position, to: &text)
        case .pong, .replayed:
            break
        case .gap(let topic, let position, let reason):
            appendGap(topic, position, reason, to: &text)
        case .draining(let reconnectAfterMs):
            text.append(text: "\"reconnectAfterMs\":")
            text.append(decimal: reconnectAfterMs)
        case .tokenExpiring(let expiresAt):
            text.append(text: "\"expiresAt\":")
            text.append(decimal: expiresAt)
        case .warning(let code, let message, let perSecond):
            append(code.rawValue, message, to: &text)
            append("perSecond", perSecond, to: &text)
        case .error(let code, let message, let topic, let retryAfterMs):
            append(code, message, to: &text)
            if let topic {
                text.append(text: ",\"topic\":\"")
                text.append(contentsOf: topic.bytes)
                text.append(text: "\"")
            }
            SocketIOText.append(retryAfterMs: retryAfterMs, to: &text)
        }
        text.append(UInt8(ascii: "}"))
        return text
    }

    private static func appendGap(
        _ topic: Topic, _ position: Position?, _ reason: GapReason, to text: inout [UInt8]
    ) {
        NativeEncoder.append(spellingsOf: topic, to: &text)
        if let position {
            text.append(text: ",")
            NativeEncoder.append(position, to: &text)
        }
        text.append(text: ",\"reason\":\"")
        text.append(text: reason.rawValue)
        text.append(text: "\"")
    }

    private static func append(_ code: String, _ message: String, to text: inout [UInt8]) {
        text.append(text: "\"code\":")
        text.append(jsonString: code)
        text.append(text: ",\"message\":")
        text.append(jsonString: message)
    }

    private static func append(_ name: StaticString, _ value: Int, to text: inout [UInt8]) {
        text.append(text: ",\"")
        text.append(text: name)
        text.append(text: "\":")
        text.append(decimal: value)
    }
}
