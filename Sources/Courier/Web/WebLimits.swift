public import Core

/// The limits of an engine, and the authorities that it trusts.
public struct WebLimits: Sendable {
    /// Requests in flight; further ones wait.
    public var inFlightMax: Int
    /// Requests that wait; further ones fail as `full`.
    public var waitingMax: Int
    /// Connections to one host and port.
    public var hostConnectionsMax: Int
    /// Milliseconds for name, connection and TLS.
    public var connectMs: Int
    /// Bytes of an answer's head.
    public var headBytesMax: Int
    /// Bytes of an answer's body.
    public var bodyBytesMax: Int
    /// PEM file of the authorities that are trusted; `nil`: the system's.
    public var authorities: String?
    /// The HTTP proxy of requests, `http://HOST:PORT`; `nil`: none, also against the environment.
    public var proxy: String?

    /// The limits of the process; `hostConnectionsMax` is the most connections to one host.
    public init(_ limits: Limits, hostConnectionsMax: Int = 4, authorities: String? = nil, proxy: String? = nil) {
        inFlightMax = limits.courier.outsideRequestsMax
        waitingMax = limits.courier.outsideWaitingMax
        connectMs = limits.courier.outsideConnectMs
        headBytesMax = limits.courier.outsideHeadBytesMax
        bodyBytesMax = limits.courier.outsideBodyBytesMax
        self.hostConnectionsMax = hostConnectionsMax
        self.authorities = authorities
        self.proxy = proxy
    }
}
