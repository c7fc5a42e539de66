import Core

/// Makes a command of one event: the verbs and the commands are those of the native dialect, `[name, data]`.
struct SocketIODecoder {
    let settings: SocketIODialect.Settings
    /// The meaning of members such as `shopId` in the namespace.
    var socket = NativeSocket.plain

    /// Reads an event that fits its grammar.
    func command(_ packet: SocketIOPacket) throws(Refusal) -> ClientCommand {
        switch packet.payload {
        case .none: throw Refusal(.badRequest, "The event has no name.")
        case .refused(let refusal): throw refusal
        case .value(let value): return try command(value)
        }
    }

    private func command(_ event: JSON.Value) throws(Refusal) -> ClientCommand {
        var members = event.members
        guard let text = members.next()?.stringBytes, let name = EventName(text) else {
            throw Refusal(
                .badRequest,
                "An event's name must be a string of 1 to \(EventName.bytesMax) of A-Z a-z 0-9 . _ : / -.")
        }
        let argument = NativeDecoder.present(members.next())
        guard members.next() == nil else {
            throw Refusal(.badRequest, "An event takes one argument, an object; put all it needs into that.")
        }
        // Clients of other backends send the bare token.
        if name.description == "authenticate", let token = argument?.stringBytes { return .authenticate(token: token) }
        if let argument, argument.kind != .object {
            throw Refusal(.badRequest, "The event's argument must be an object.")
        }
        return try NativeDecoder(
            root: nil, subscribeBatchMax: settings.subscribeBatchMax, publishBytesMax: settings.publishBytesMax,
            socket: socket
        ).command(name, argument)
    }
}
