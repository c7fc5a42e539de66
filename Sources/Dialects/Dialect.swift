/// One client protocol: what its connections have in common; shared by all threads.
public protocol Dialect: Sendable {
    /// How its events are written, by number; the numbers are those of ``Conversation/encoder(of:)``.
    var encoders: [any EventEncoder] { get }

    /// Begins a connection's conversation.
    func converse() -> any Conversation
}
