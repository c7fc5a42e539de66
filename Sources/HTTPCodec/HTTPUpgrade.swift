import Core

/// A request to open a WebSocket with valid handshake fields (RFC 6455 section 4.2.1).
public struct HTTPUpgrade: Sendable, Equatable {
    /// The bytes of `Sec-WebSocket-Key` as received: the Base64 of 16 bytes, from which the accept value is made.
    public let key: [UInt8]
    /// The subprotocols offered, in order of preference; each a token, no two alike.
    public let protocols: [[UInt8]]

    /// Checks the handshake; `nil` when the request asks for no WebSocket.
    ///
    /// An `Upgrade` to anything else, such as h2c, is ignored, as RFC 9110 section 7.8 permits: the request is then
    /// an ordinary one.
    init?(
        method: HTTPMethod, isVersion11: Bool, body: HTTPBodyFraming, headers: HTTPHeaders
    ) throws(HTTPFailure) {
        guard headers.hasToken("websocket", in: "upgrade") else { return nil }
        guard isVersion11 else {
            throw .badRequest("A WebSocket needs HTTP/1.1; behind nginx: proxy_http_version 1.1")
        }
        guard headers.hasToken("upgrade", in: "connection") else {
            throw .badRequest("Upgrade without Connection: Upgrade; does a proxy drop the Connection header?")
        }
        guard method == .get else { throw .badRequest("A WebSocket is opened with GET") }
        guard body == .none else { throw .badRequest("A request that opens a WebSocket must not have a body") }
        guard case .one(let version) = headers.single("sec-websocket-version"), version.elementsEqual("13".utf8) else {
            throw .unsupported(426, "Sec-WebSocket-Version must be 13")
        }
        guard case .one(let key) = headers.single("sec-websocket-key"), key.count == 24,
            Base64.decode(key, .standard)?.count == 16
        else {
            throw .badRequest("Sec-WebSocket-Key must be the Base64 of 16 bytes")
        }
        self.key = key
        protocols = headers.tokens(of: "sec-websocket-protocol")
        guard protocols.allSatisfy({ HTTPGrammar.isToken($0) }) else {
            throw .badRequest("Sec-WebSocket-Protocol must be a list of tokens")
        }
        guard Set(protocols).count == protocols.count else {
            throw .badRequest("Sec-WebSocket-Protocol names a subprotocol twice")
        }
    }
}
