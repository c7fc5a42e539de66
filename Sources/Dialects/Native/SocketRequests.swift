import Core

/// The requests that a socket's rules make in its client's name, and the values that they add to the client's requests.
///
/// There is one for each client: a native connection, or a client's membership of a Socket.IO namespace. These requests
/// are checked like any request of the client. Each call passes the rules, which many clients share.
struct SocketRequests {
    private var topics = NativeTopicsAsked()
    /// Whether the topics of the client's user were asked for; once, since the client may have left them.
    private var hasJoinedUser = false
    /// Whether the client has its former topics again, so that nothing is asked for it.
    private var isBack = false

    /// The requests to make once the client's session is open.
    mutating func opened(by user: [UInt8]?, at socket: NativeSocket) -> [ClientRequest] {
        isBack ? [] : join(socket.topics, at: socket) + (user.map { join(user: $0, at: socket) } ?? [])
    }

    /// The client recovers its former topics; the caller, which knows them, joins them.
    mutating func cameBack(by user: [UInt8]?) {
        isBack = true
        if user != nil { hasJoinedUser = true }
    }

    /// The client's request, with the values that it may leave out.
    mutating func received(_ request: ClientRequest, at socket: NativeSocket) -> ClientRequest {
        var request = request
        if case .command(let name, let arguments) = request.command {
            let known = topics.known(at: socket)
            if !known.isEmpty {
                let filled = CommandArguments(object: arguments.object, known: known)
                request.command = .command(name: name, arguments: filled)
            }
        }
        topics.requested(request.command, at: socket)
        return request
    }

    /// The requests to make after this message was sent to the client.
    mutating func sent(_ message: ServerMessage, at socket: NativeSocket) -> [ClientRequest] {
        topics.sent(message, at: socket)
        guard case .authenticated(let user, _) = message, !user.isEmpty else { return [] }
        return join(user: user, at: socket)
    }

    private mutating func join(user: [UInt8], at socket: NativeSocket) -> [ClientRequest] {
        guard !hasJoinedUser else { return [] }
        hasJoinedUser = true
        return join(socket.topics(of: user), at: socket)
    }

    private mutating func join(_ wanted: [Topic], at socket: NativeSocket) -> [ClientRequest] {
        guard !wanted.isEmpty else { return [] }
        let command = ClientCommand.subscribe(wanted.map { SubscribeRequest(topic: $0, since: nil) })
        topics.requested(command, at: socket)
        return [ClientRequest(command: command, ref: nil)]
    }
}
