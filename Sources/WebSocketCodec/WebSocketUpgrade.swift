/// What a server must know of a request to open a WebSocket (RFC 6455 section 4.2.1), free of any HTTP type.
///
/// Each list holds the values of all field lines of that name, in order, as received; absent fields are empty lists.
public struct WebSocketUpgrade: Sendable {
    /// Whether the method is `GET`.
    public var isGet: Bool
    /// Whether the version is HTTP/1.1. (HTTP/1.0 has no upgrade; RFC 9110 section 7.8.)
    public var isHTTP11: Bool
    /// Whether the request has content: `Transfer-Encoding`, or a `Content-Length` other than 0.
    public var hasBody: Bool
    /// `Upgrade`.
    public var upgrade: [[UInt8]]
    /// `Connection`.
    public var connection: [[UInt8]]
    /// `Sec-WebSocket-Version`.
    public var version: [[UInt8]]
    /// `Sec-WebSocket-Key`.
    public var key: [[UInt8]]

    /// Gathers the facts of one request.
    public init(
        isGet: Bool, isHTTP11: Bool, hasBody: Bool, upgrade: [[UInt8]], connection: [[UInt8]], version: [[UInt8]],
        key: [[UInt8]]
    ) {
        self.isGet = isGet
        self.isHTTP11 = isHTTP11
        self.hasBody = hasBody
        self.upgrade = upgrade
        self.connection = connection
        self.version = version
        self.key = key
    }
}
