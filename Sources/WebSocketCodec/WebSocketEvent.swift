/// One result of a decoder, in the order of the wire.
///
/// ``close(code:reason:)`` and ``failed(_:)`` are the last event of a connection.
public enum WebSocketEvent: Equatable, Sendable {
    /// The two kinds of messages.
    public enum Kind: Equatable, Sendable {
        /// Valid UTF-8.
        case text
        /// Any bytes.
        case binary
    }

    /// A whole message, its fragments joined; the array belongs to the receiver alone.
    case message(kind: Kind, payload: [UInt8])
    /// A whole message in its deflated form, if `permessage-deflate` was agreed on; still to be inflated.
    case deflated(kind: Kind, payload: [UInt8])
    /// A ping; answer with a pong of the same payload (at most 125 bytes), at once and in order.
    case ping([UInt8])
    /// A pong, solicited or not.
    case pong([UInt8])
    /// The peer's close frame, with a code that may be echoed (`nil`: the body was empty) and a valid UTF-8 reason.
    case close(code: UInt16?, reason: [UInt8])
    /// The peer broke a rule; everything valid before it has been reported.
    case failed(WebSocketFailure)
}
