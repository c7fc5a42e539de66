import Core

/// The shared parts of both sides of the opening handshake (RFC 6455 section 4).
///
/// The HTTP parser checks a request for a server, since it knows all of it. Pure: the caller computes the SHA-1 of
/// ``acceptInput(key:)``, whose base64 is `Sec-WebSocket-Accept`.
public enum WebSocketHandshake {
    /// The constant appended to the key (section 1.3).
    public static let guid: StaticString = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// Whether the bytes are the one base64 spelling of 16 bytes.
    public static func isKey(_ key: [UInt8]) -> Bool {
        key.count == 24 && Base64.decode(key, .standard)?.count == 16
    }

    /// The input of the SHA-1 for `Sec-WebSocket-Accept`: the key and ``guid``.
    public static func acceptInput(key: [UInt8]) -> [UInt8] { key + FieldText.bytes(guid) }
}
