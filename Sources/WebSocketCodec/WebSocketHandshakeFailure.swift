public import Core

/// Why a request does not open a WebSocket (RFC 6455 section 4.2), and the HTTP answer that says so.
public enum WebSocketHandshakeFailure: Error, CaseIterable, Equatable, Sendable {
    /// The method is not `GET`.
    case methodNotGet
    /// The request is older than HTTP/1.1.
    case versionTooOld
    /// The request carries content, which could be taken for frames or for a second request.
    case hasBody
    /// `Upgrade` does not name `websocket`.
    case notAnUpgrade
    /// `Connection` does not name `Upgrade`.
    case connectionNotUpgrade
    /// `Sec-WebSocket-Version` is missing or not 13.
    case versionUnsupported
    /// `Sec-WebSocket-Version` or `Sec-WebSocket-Key` came more than once (section 11.3).
    case fieldRepeated
    /// `Sec-WebSocket-Key` is missing or not the base64 of 16 bytes.
    case keyInvalid
    /// `Sec-WebSocket-Protocol` is not a list of tokens.
    case subprotocolInvalid

    /// The HTTP status: 400, 405 or 426.
    public var httpStatus: Int {
        switch self {
        case .methodNotGet: 405
        case .notAnUpgrade, .versionUnsupported: 426
        default: 400
        }
    }

    /// The fields that this status requires beside the usual ones.
    ///
    /// 405 names the methods (RFC 9110 section 15.5.6); 426 names the protocol to upgrade to (15.5.22) and the
    /// version we speak (RFC 6455 section 4.4).
    public var headers: [(name: String, value: String)] {
        switch httpStatus {
        case 405: [("Allow", "GET")]
        case 426: [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13")]
        default: []
        }
    }

    /// What to tell the client's developer.
    public var refusal: Refusal { Refusal(.badRequest, message) }

    private var message: String {
        switch self {
        case .methodNotGet: "A WebSocket is opened with GET."
        case .versionTooOld: "A WebSocket is opened over HTTP/1.1."
        case .hasBody: "A request that opens a WebSocket has no body."
        case .notAnUpgrade: "This path speaks WebSocket: send 'Upgrade: websocket' and 'Connection: Upgrade'."
        case .connectionNotUpgrade: "'Connection' must list 'Upgrade'; a proxy in between may have removed it."
        case .versionUnsupported: "'Sec-WebSocket-Version' must be 13."
        case .fieldRepeated: "'Sec-WebSocket-Key' and 'Sec-WebSocket-Version' must come once."
        case .keyInvalid: "'Sec-WebSocket-Key' must be the base64 of 16 bytes."
        case .subprotocolInvalid: "'Sec-WebSocket-Protocol' must be a list of tokens."
        }
    }
}
