import Core

/// What the rules of a socket ask in its client's name, and what they add to what the client asks.
///
/// There is one for each client: a native connection, or a client's stay in a namespace of Socket.IO. What is asked is
/// judged like any request of the client.
struct SocketRequests {
    private let socket: NativeSocket
    private var topics: NativeTopicsAsked
    /// Whether the topics of the client's user were asked for; once, since the client may have left them.
    private var hasJoinedUser = false
    /// Whether the client has again what it had, so that nothing is asked for it.
    private var isBack = false

    init(_ socket: NativeSocket) {
        self.socket = socket
        topics = NativeTopicsAsked(socket)
    }

    /// The client is there: what is asked for it now.
    mutating func opened(by user: [UInt8]?) -> [ClientRequest] {
        isBack ? [] : join(socket.topics) + (user.map { join(user: $0) } ?? [])
    }

    /// The client comes back to what it had: it is joined by whoever knows what that was.
    mutating func cameBack(by user: [UInt8]?) {
        isBack = true
        if user != nil { hasJoinedUser = true }
    }

    /// The client asks something: the request with what it need not say.
    mutating func received(_ request: ClientRequest) -> ClientRequest {
        var request = request
        if case .command(let name, let arguments) = request.command {
            let known = topics.known
            if !known.isEmpty {
                let filled = CommandArguments(object: arguments.object, known: known)
                request = ClientRequest(command: .command(name: name, arguments: filled), ref: request.ref)
            }
        }
        topics.requested(request.command)
        return request
    }

    /// The client is told something: what is asked for it once it has heard that.
    mutating func told(_ message: ServerMessage) -> [ClientRequest] {
        topics.told(message)
        guard case .authenticated(let user, _) = message, !user.isEmpty else { return [] }
        return join(user: user)
    }

    private mutating func join(user: [UInt8]) -> [ClientRequest] {
        guard !hasJoinedUser else { return [] }
        hasJoinedUser = true
        return join(socket.topics(of: user))
    }

    private mutating func join(_ wanted: [Topic]) -> [ClientRequest] {
        guard !wanted.isEmpty else { return [] }
        let command = ClientCommand.subscribe(wanted.map { SubscribeRequest(topic: $0, since: nil) })
        topics.requested(command)
        return [ClientRequest(command: command, ref: nil)]
    }
}
