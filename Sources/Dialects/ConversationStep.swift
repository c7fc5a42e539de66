public import Core

/// What a conversation wants done, in this order.
public enum ConversationStep: Equatable, Sendable {
    /// Say this to the client.
    case say(WireUnit)
    /// A new door: whoever shows the token, or the connection's own credentials without one, has its topics there.
    ///
    /// ``Conversation/opened(_:by:_:)`` follows, or ``Conversation/refused(_:_:_:)``.
    case open(Door, token: [UInt8]?)
    /// The client asks through an open door, or could not be understood there.
    ///
    /// The answers come by ``Conversation/told(_:at:ref:_:)`` with the request's reference.
    case request(Door, Result<ClientRequest, DialectRefusal>)
    /// The door closes: everything that was joined through it is left, nothing more is told of it.
    case end(Door)
    /// The connection ends.
    case close(CloseReason)
}
