/// A header field that this server sends, in its spelling on the wire.
///
/// The set is closed, so a name can never come from input. `Content-Length`, `Transfer-Encoding` and `Connection` are
/// missing on purpose: ``HTTPResponse`` writes them itself and never in contradiction to the body. Add a case to send
/// another field.
public enum HTTPHeaderName: String, CaseIterable, Sendable {
    /// The encodings accepted for bodies; in a 415.
    case acceptEncoding = "Accept-Encoding"
    /// CORS (Fetch standard, section 3.3).
    case accessControlAllowHeaders = "Access-Control-Allow-Headers"
    /// CORS.
    case accessControlAllowMethods = "Access-Control-Allow-Methods"
    /// CORS.
    case accessControlAllowOrigin = "Access-Control-Allow-Origin"
    /// CORS.
    case accessControlExposeHeaders = "Access-Control-Expose-Headers"
    /// CORS.
    case accessControlMaxAge = "Access-Control-Max-Age"
    /// The methods of a route; in a 405 and for OPTIONS.
    case allow = "Allow"
    /// Caching.
    case cacheControl = "Cache-Control"
    /// The resources that a page may load.
    case contentSecurityPolicy = "Content-Security-Policy"
    /// The type of the body.
    case contentType = "Content-Type"
    /// Whether other sites may embed the answer.
    case crossOriginResourcePolicy = "Cross-Origin-Resource-Policy"
    /// The time of the answer; see ``HTTPDate``.
    case date = "Date"
    /// The version of a representation.
    case etag = "ETag"
    /// The address to use instead.
    case location = "Location"
    /// The part of its address that a page sends to other sites.
    case referrerPolicy = "Referrer-Policy"
    /// Seconds to wait before trying again.
    case retryAfter = "Retry-After"
    /// RFC 6455 section 4.2.2.
    case secWebSocketAccept = "Sec-WebSocket-Accept"
    /// RFC 6455 section 9.1.
    case secWebSocketExtensions = "Sec-WebSocket-Extensions"
    /// RFC 6455 section 4.2.2.
    case secWebSocketProtocol = "Sec-WebSocket-Protocol"
    /// RFC 6455 section 4.4; in a 426.
    case secWebSocketVersion = "Sec-WebSocket-Version"
    /// Cookies.
    case setCookie = "Set-Cookie"
    /// HTTPS only from now on.
    case strictTransportSecurity = "Strict-Transport-Security"
    /// The protocol that the connection can be upgraded to; in a 101 and a 426.
    case upgrade = "Upgrade"
    /// The request headers that the answer depends on.
    case vary = "Vary"
    /// The way to authenticate; in a 401.
    case wwwAuthenticate = "WWW-Authenticate"
    /// No guessing of types.
    case xContentTypeOptions = "X-Content-Type-Options"
    /// No framing by other sites.
    case xFrameOptions = "X-Frame-Options"
    /// Server-sent events: no buffering by nginx.
    case xAccelBuffering = "X-Accel-Buffering"
    /// The request's id.
    case xRequestID = "X-Request-Id"
}
