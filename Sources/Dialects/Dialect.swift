/// How a client message travelled: the two data opcodes of RFC 6455 section 5.6.
public enum MessageKind: Sendable {
    /// UTF-8 text; the codec has already refused anything else.
    case text
    /// Bytes of any value.
    case binary
}

/// One client protocol as a pure value: bytes in, requests out; messages in, bytes out.
///
/// The session core speaks only ``ClientRequest`` and ``ServerMessage`` and never sees a dialect's syntax. A dialect
/// keeps no state of the connection: what it must say again in a reply (a Phoenix `join_ref`, a Socket.IO
/// acknowledgement number) it packs into the ``Reference`` of the request, which everyone else hands back unread.
///
/// Events are encoded once for all sessions whose dialects have the same ``variant``, and the bytes are shared;
/// replies are encoded for one session. All members may be called on any thread.
public protocol Dialect: Sendable {
    /// What the encoding of events depends on: sessions of one variant are sent the same bytes.
    ///
    /// A short constant word, also the metric label of the sessions, e.g. `native`.
    var variant: String { get }

    /// Reads one whole client message.
    ///
    /// A failure concerns this message alone; the session answers it with an error and lives on, unless the refusal
    /// names a close.
    func decode(_ message: [UInt8], as kind: MessageKind) -> Result<ClientRequest, DialectRefusal>

    /// Writes one message to the client as the payload of one text frame.
    ///
    /// - Parameter ref: the reference of the request that this message answers; `nil` on everything unasked for.
    func encode(_ message: ServerMessage, ref: Reference?) -> [UInt8]

    /// Which operation a command with this reference is, so that its retry changes nothing; `nil`: none can be told.
    func operation(of ref: Reference) -> OperationName?
}

extension Dialect {
    /// Reads one whole text message.
    public func decode(_ message: [UInt8]) -> Result<ClientRequest, DialectRefusal> {
        decode(message, as: .text)
    }
}
