import Core

/// A message to one client as the one argument of an event or of an acknowledgement.
///
/// The argument is the `data` of the native message of that name. The topic, which native messages carry beside their
/// data, is in the argument.
enum SocketIOAnswer {
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
        switch message {
        case .ack(let data): return data
        case .presence(let topic, let members?): return NativePresence.state(topic, members)
        default: break
        }
        var text: [UInt8] = []
        text.reserveCapacity(256)
        NativeEncoder.append(dataOf: message, namesTopic: true, socket, to: &text)
        return text
    }
}
