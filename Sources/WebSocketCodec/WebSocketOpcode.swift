/// The frame kinds of RFC 6455 section 5.2; every other value is reserved and refused.
public enum WebSocketOpcode: UInt8, Sendable, CaseIterable {
    /// The next fragment of the unfinished message.
    case continuation = 0x0
    /// A text message, or its first fragment.
    case text = 0x1
    /// A binary message, or its first fragment.
    case binary = 0x2
    /// The closing handshake.
    case close = 0x8
    /// A frame that a pong with the same payload answers.
    case ping = 0x9
    /// The answer to a ping, or an unsolicited heartbeat.
    case pong = 0xa

    /// Whether this is a control frame: never fragmented, at most 125 bytes (section 5.5).
    public var isControl: Bool { rawValue >= 0x8 }
}
