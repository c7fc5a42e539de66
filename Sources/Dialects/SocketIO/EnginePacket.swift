/// One packet of Engine.IO 4: a digit and text, or bytes.
///
/// On a WebSocket a packet is one message: text of this form, or the bytes of a binary message alone. In a polled payload
/// the bytes are `b` and standard base64.
public struct EnginePacket: Equatable, Sendable {
    /// What a packet is; the raw values are the digits that texts begin with.
    public enum Kind: UInt8, CaseIterable, Sendable {
        /// The server's first word: `0{"sid":...}`.
        case open = 0x30
        /// The session ends.
        case close = 0x31
        /// A sign of life is wanted; only servers ask, except for `2probe` on a WebSocket that a session is to move to.
        case ping = 0x32
        /// The sign of life.
        case pong = 0x33
        /// Text of the application: a Socket.IO packet.
        case message = 0x34
        /// The session moves to this WebSocket.
        case upgrade = 0x35
        /// Nothing; it releases a held poll.
        case noop = 0x36
        /// Bytes of the application: an attachment of a Socket.IO packet.
        case bytes = 0x62
    }

    /// What it is.
    public let kind: Kind
    /// What follows the digit, or the bytes.
    public let payload: ArraySlice<UInt8>

    /// Makes a packet.
    public init(_ kind: Kind, _ payload: ArraySlice<UInt8> = []) {
        self.kind = kind
        self.payload = payload
    }

    /// Reads one message of a WebSocket; `nil` when its first byte is no type.
    public init?(message: [UInt8], as kind: MessageKind) {
        if kind == .binary {
            self.init(.bytes, message[...])
            return
        }
        guard let digit = message.first, let type = Kind(rawValue: digit), type != .bytes else { return nil }
        self.init(type, message.dropFirst())
    }
}
