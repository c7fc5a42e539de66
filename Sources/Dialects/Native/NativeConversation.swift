import Core

/// A native connection: one message, one request; one answer, one message.
///
/// The rules of its path may ask for topics before the client does; the client is answered as if it had asked.
public struct NativeConversation: Conversation {
    private let dialect: NativeDialect
    private var asked: NativeTopicsAsked
    /// Whether the topics of the client's user were asked for; once, since the client may have left them.
    private var hasJoinedUser = false

    init(_ dialect: NativeDialect) {
        self.dialect = dialect
        asked = NativeTopicsAsked(dialect.socket)
    }

    /// Asks for the topics of the path.
    public mutating func opened(_ door: Door, by user: [UInt8]?, _ steps: inout [ConversationStep]) {
        join(dialect.socket.topics, &steps)
        if let user { join(user: user, &steps) }
    }

    /// Asks what the message asks, or refuses it.
    public mutating func received(
        _ message: [UInt8], as kind: MessageKind, nowMs: Int, _ steps: inout [ConversationStep]
    ) {
        let request = dialect.decode(message, as: kind).map(filled)
        if case .success(let request) = request { asked.requested(request.command) }
        steps.append(.request(.main, request))
    }

    /// A command with what it need not say.
    private func filled(_ request: ClientRequest) -> ClientRequest {
        guard case .command(let name, let arguments) = request.command else { return request }
        let known = asked.known
        guard !known.isEmpty else { return request }
        let filled = CommandArguments(object: arguments.object, known: known)
        return ClientRequest(command: .command(name: name, arguments: filled), ref: request.ref)
    }

    /// Says it in one text message.
    public mutating func told(
        _ message: ServerMessage, at door: Door, ref: Reference?, _ steps: inout [ConversationStep]
    ) {
        asked.told(message)
        steps.append(.say(WireUnit(.text, dialect.encode(message, ref: ref))))
        if case .authenticated(let user, _) = message, !user.isEmpty { join(user: user, &steps) }
    }

    private mutating func join(user: [UInt8], _ steps: inout [ConversationStep]) {
        guard !hasJoinedUser else { return }
        hasJoinedUser = true
        join(dialect.socket.topics(of: user), &steps)
    }

    private mutating func join(_ topics: [Topic], _ steps: inout [ConversationStep]) {
        guard !topics.isEmpty else { return }
        let command = ClientCommand.subscribe(topics.map { SubscribeRequest(topic: $0, since: nil) })
        asked.requested(command)
        steps.append(.request(.main, .success(ClientRequest(command: command, ref: nil))))
    }

    /// A text reference names its operation wherever it is repeated, a number on this connection.
    public func operation(of ref: Reference) -> OperationName? { dialect.operation(of: ref) }
}
