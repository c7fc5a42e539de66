/// A native connection: one message, one request; one answer, one message.
public struct NativeConversation: Conversation {
    private let dialect: NativeDialect

    init(_ dialect: NativeDialect) {
        self.dialect = dialect
    }

    /// Asks what the message asks, or refuses it.
    public mutating func received(
        _ message: [UInt8], as kind: MessageKind, nowMs: Int, _ steps: inout [ConversationStep]
    ) {
        steps.append(.request(.main, dialect.decode(message, as: kind)))
    }

    /// Says it in one text message.
    public mutating func told(
        _ message: ServerMessage, at door: Door, ref: Reference?, _ steps: inout [ConversationStep]
    ) {
        steps.append(.say(WireUnit(.text, dialect.encode(message, ref: ref))))
    }

    /// A text reference names its operation wherever it is repeated, a number on this connection.
    public func operation(of ref: Reference) -> OperationName? { dialect.operation(of: ref) }
}
