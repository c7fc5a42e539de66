public import Core

/// One action that a dialect machine requests; the actions are performed in their order.
public enum DialectStep: Equatable, Sendable {
    /// Send this to the client.
    case say(WireUnit)
    /// Open a session with the token, or without one with the connection's own credentials.
    ///
    /// ``DialectMachine/opened(_:by:_:)`` follows, or ``DialectMachine/refused(_:_:_:)``.
    case open(SessionID, token: [UInt8]?)
    /// A request of the client through an open session, or a message there that could not be read.
    ///
    /// The answers arrive at ``DialectMachine/send(_:at:ref:_:)`` with the request's reference.
    case request(SessionID, Result<ClientRequest, DialectRefusal>)
    /// The session ends: it leaves all topics joined through it and receives nothing more.
    case end(SessionID)
    /// Close the connection.
    case close(CloseReason)
}
