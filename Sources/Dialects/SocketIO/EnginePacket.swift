/// One packet of Engine.IO 4: a digit and text, or bytes.
///
/// On a WebSocket a packet is one message: text of this form, or the bytes of a binary message alone. In a polling
/// payload the bytes are `b` and standard base64.
public struct EnginePacket: Equatable, Sendable {
    /// The kind of a packet; the raw values are the digits that texts begin with.
    public enum Kind: UInt8, CaseIterable, Sendable {
        /// The server's first packet: `0{"sid":...}`.
        case open = 0x30
        /// The session ends.
        case close = 0x31
        /// A ping; only servers send it, except for `2probe` on a WebSocket to which a session is to move.
        case ping = 0x32
        /// The answer to a ping.
        case pong = 0x33
        /// Text of the application: a Socket.IO packet.
        case message = 0x34
        /// The session moves to this WebSocket.
        case upgrade = 0x35
        /// An empty packet; it releases a held poll.
        case noop = 0x36
        /// Bytes of the application: an attachment of a Socket.IO packet.
        case bytes = 0x62
    }

    /// The kind of the packet.
    public let kind: Kind
    /// The text after the digit, or the bytes.
    public let payload: ArraySlice<UInt8>

    /// Makes a packet.
    public init(_ kind: Kind, _ payload: ArraySlice<UInt8> = []) {
        self.kind = kind
        self.payload = payload
    }

    /// Reads one WebSocket message; `nil` when its first byte is no kind.
    public init?(message: [UInt8], as kind: MessageKind) {
        if kind == .binary {
            self.init(.bytes, message[...])
            return
        }
        guard let digit = message.first, let type = Kind(rawValue: digit), type != .bytes else { return nil }
        self.init(type, message.dropFirst())
    }
}
