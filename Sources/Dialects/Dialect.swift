public import Core

/// One client protocol: the properties that its connections share; used by all threads.
public protocol Dialect: Sendable {
    /// The encoders of its events; the indices are those of ``DialectMachine/encoder(of:)``.
    var encoders: [any EventEncoder] { get }

    /// Makes the machine of a new connection.
    func converse() -> any DialectMachine

    /// The WebSocket subprotocol that is chosen when a client offers it; `nil` for none.
    ///
    /// A browser that offers subprotocols and receives none closes the connection.
    var subprotocol: String? { get }

    /// The code of a WebSocket's close frame; `nil` where none can be sent.
    func closeCode(_ reason: CloseReason) -> UInt16?
}

extension Dialect {
    /// None.
    public var subprotocol: String? { nil }

    /// The reason's own.
    public func closeCode(_ reason: CloseReason) -> UInt16? { reason.webSocketCode }
}
