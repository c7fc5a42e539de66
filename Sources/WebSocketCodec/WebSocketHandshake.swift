import Core

/// The opening handshake of RFC 6455 section 4, seen from the server.
///
/// Pure: the SHA-1 of ``acceptInput(key:)`` is computed by the caller, whose base64 is `Sec-WebSocket-Accept`.
public enum WebSocketHandshake {
    /// The constant appended to the key (section 1.3).
    public static let guid: StaticString = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// Checks a request and returns its key, 24 bytes of base64.
    ///
    /// The checks run in the order of ``WebSocketHandshakeFailure``'s cases; the first broken one is returned.
    /// `Host` is left to the HTTP parser, which requires it anyway.
    public static func check(_ request: WebSocketUpgrade) -> Result<[UInt8], WebSocketHandshakeFailure> {
        guard request.isGet else { return .failure(.methodNotGet) }
        guard request.isHTTP11 else { return .failure(.versionTooOld) }
        guard !request.hasBody else { return .failure(.hasBody) }
        guard HeaderText.list(request.upgrade, holds: "websocket") else { return .failure(.notAnUpgrade) }
        guard HeaderText.list(request.connection, holds: "upgrade") else { return .failure(.connectionNotUpgrade) }
        guard let version = request.version.first else { return .failure(.versionUnsupported) }
        guard HeaderText.trimmed(version[...]).elementsEqual(HeaderText.bytes("13")) else {
            return .failure(.versionUnsupported)
        }
        guard request.version.count == 1, request.key.count <= 1 else { return .failure(.fieldRepeated) }
        let key = Array(HeaderText.trimmed((request.key.first ?? [])[...]))
        return isKey(key) ? .success(key) : .failure(.keyInvalid)
    }

    /// Whether the bytes are the one base64 spelling of 16 bytes.
    public static func isKey(_ key: [UInt8]) -> Bool {
        key.count == 24 && Base64.decode(key, .standard)?.count == 16
    }

    /// What to hash with SHA-1 for `Sec-WebSocket-Accept`: the key and ``guid``.
    public static func acceptInput(key: [UInt8]) -> [UInt8] { key + HeaderText.bytes(guid) }

    /// Picks the first subprotocol the client offers that the server speaks; `nil` when there is none.
    ///
    /// A request without one in common still opens, without `Sec-WebSocket-Protocol` in the answer (section 4.2.2).
    /// Names are compared exactly. *Complexity*: offered bytes times supported names, which are few and ours.
    ///
    /// - Parameters:
    ///   - offered: The values of all `Sec-WebSocket-Protocol` lines, in order.
    ///   - supported: What the server speaks on this path, in any order.
    public static func selectSubprotocol(
        offered: [[UInt8]], supported: [String]
    ) -> Result<String?, WebSocketHandshakeFailure> {
        let tokens = HeaderText.elements(offered)
        guard tokens.allSatisfy(HeaderText.isToken) else { return .failure(.subprotocolInvalid) }
        for token in tokens {
            if let name = supported.first(where: { $0.utf8.elementsEqual(token) }) { return .success(name) }
        }
        return .success(nil)
    }
}
