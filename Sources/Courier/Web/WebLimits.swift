public import Core

/// What an engine may hold, and whom it trusts.
public struct WebLimits: Sendable {
    /// Requests in flight; further ones wait.
    public var inFlightMax: Int
    /// Requests that wait; beyond: `full`.
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
    /// The HTTP proxy that requests go through, `http://HOST:PORT`; `nil`: none, whatever the environment says.
    public var proxy: String?

    /// The figures of the process; `hostConnectionsMax` says how many connections a host stands.
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
