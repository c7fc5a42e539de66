/// The reason why a connection ends: one table = WebSocket close code = log field = metric label = test assertion.
///
/// Raw values are the metric labels and log fields. Codes below 4000 are RFC 6455 section 7.4.1; 1012 and 1013 are in
/// IANA's registry; 4000...4999 are the gateway's own.
public enum CloseReason: String, CaseIterable, Sendable {
    /// The peer closed the connection properly.
    case normal
    /// The peer's TCP or TLS connection ended without a close handshake.
    case peerGone = "peer_gone"
    /// The gateway shuts down now (second SIGTERM, or the end of `dev`).
    case goingAway = "going_away"
    /// RFC 6455 was violated.
    case protocolError = "protocol_error"
    /// A data type that the dialect does not accept (binary in the native dialect).
    case unsupportedData = "unsupported_data"
    /// Text that is not UTF-8.
    case invalidText = "invalid_text"
    /// A policy was violated, e.g. a flood of control frames.
    case policyViolation = "policy_violation"
    /// A message beyond the inbound limit.
    case messageTooBig = "message_too_big"
    /// A fault of the gateway.
    case internalError = "internal_error"
    /// Drain: the service restarts, reconnect after the hinted delay.
    case restart
    /// Overload: try again later.
    case tryLater = "try_later"
    /// The dialect could not understand the client.
    case badRequest = "bad_request"
    /// Credentials missing, wrong, or expired.
    case unauthorized
    /// Not allowed, for good.
    case forbidden
    /// A deadline passed: TLS, request head, body, authentication, or pong.
    case timeout
    /// The client read too slowly; it may resume by position.
    case slowConsumer = "slow_consumer"
    /// Too many messages.
    case rateLimited = "rate_limited"
    /// The HTTP exchange has ended (no WebSocket was opened).
    case httpDone = "http_done"
    /// The HTTP request was malformed or refused.
    case httpRefused = "http_refused"
    /// TLS failed: no common version or cipher, bad record, plain HTTP on the TLS port.
    case tlsFailed = "tls_failed"
    /// The PROXY header was missing, malformed, or from an address that is not trusted.
    case proxyHeader = "proxy_header"
    /// A PROXY header was received where none is expected.
    case strayProxyHeader = "stray_proxy_header"
    /// A limit on connections (total, per address, unauthenticated) was reached.
    case connectionLimit = "connection_limit"

    /// The WebSocket close code; `nil` where no close frame can be sent.
    public var webSocketCode: UInt16? {
        switch self {
        case .normal: 1000
        case .goingAway: 1001
        case .protocolError: 1002
        case .unsupportedData: 1003
        case .invalidText: 1007
        case .policyViolation: 1008
        case .messageTooBig: 1009
        case .internalError: 1011
        case .restart: 1012
        case .tryLater, .connectionLimit: 1013
        case .badRequest: 4400
        case .unauthorized: 4401
        case .forbidden: 4403
        case .timeout: 4408
        case .slowConsumer: 4410
        case .rateLimited: 4429
        case .peerGone, .httpDone, .httpRefused, .tlsFailed, .proxyHeader, .strayProxyHeader: nil
        }
    }
}
