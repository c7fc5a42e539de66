/// The frame type of a client message: the two data opcodes of RFC 6455 section 5.6.
public enum MessageKind: Sendable {
    /// UTF-8 text; the codec has already refused anything else.
    case text
    /// Bytes of any value.
    case binary
}
