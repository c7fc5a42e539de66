public import Core

/// One client protocol: what its connections have in common; shared by all threads.
public protocol Dialect: Sendable {
    /// How its events are written, by number; the numbers are those of ``Conversation/encoder(of:)``.
    var encoders: [any EventEncoder] { get }

    /// Begins a connection's conversation.
    func converse() -> any Conversation

    /// The code of a WebSocket's close frame; `nil` where none can be sent.
    func closeCode(_ reason: CloseReason) -> UInt16?
}

extension Dialect {
    /// The reason's own.
    public func closeCode(_ reason: CloseReason) -> UInt16? { reason.webSocketCode }
}
