public import Connections
public import Core

/// The address of Redis, and the limits and deadlines for its links.
public struct RedisTarget: Sendable {
    /// The address of Redis, and our credentials there.
    public var url: RedisURL
    /// TLS settings for `rediss://`; ignored for other schemes.
    public var tls: TLSContext?
    /// Milliseconds for dialling, TLS and greeting together.
    public var connectMs: Int
    /// Milliseconds for one call.
    public var callMs: Int
    /// Milliseconds without any reply, while replies are awaited, after which a connection is given up.
    public var stallMs: Int
    /// The most calls in flight on one link.
    public var inFlightMax: Int
    /// The most channels in one SUBSCRIBE.
    public var subscribeBatch: Int
    /// The least pause between dials, with full jitter up to ``backOffMaxMs``, milliseconds.
    public var backOffMinMs: Int
    /// See ``backOffMinMs``.
    public var backOffMaxMs: Int
    /// The limits of one call.
    public var call: RedisCall.Limits
    /// The most bytes of calls that wait to be written to one link.
    public var outboundBytesMax: Int
    /// The limits of one reply.
    public var reply: RESPLimits
    /// Milliseconds for one answer of a Sentinel.
    var sentinelCallMs: Int
    /// The least time between two questions to the Sentinels, milliseconds.
    var sentinelPauseMs: Int
    /// Milliseconds until the Sentinels are asked without a reason.
    var sentinelRefreshMs: Int
    /// Milliseconds for which the Sentinels are asked repeatedly when a master may be changing.
    var sentinelUnsettledMs: Int
    /// Milliseconds for which an old master of a cluster is asked whether the new one has everything that it wrote.
    var clusterProofMs: Int
    /// The most nodes of a cluster in a map, and the most nodes with stored histories.
    var clusterNodesMax: Int
    /// The required layout of the keys; `nil`: it is not checked.
    public var layout: LayoutGuard?
    /// The settings by which links prove that positions outlive a restart; `nil`: they trust the server's own report.
    public var seal: RunSealSettings?
    /// The role that the server must have, or the connection is refused; `nil` accepts any role.
    var role: ServerFacts.Role? = .master

    /// Takes the figures from the node's limits.
    public init(url: RedisURL, tls: TLSContext?, limits: Limits) {
        self.url = url
        self.tls = tls
        connectMs = limits.redisConnectMs
        callMs = limits.redisCallMs
        stallMs = limits.redisStallMs
        inFlightMax = limits.redisInFlightMax
        subscribeBatch = limits.redisSubscribeBatch
        backOffMinMs = limits.redisBackOffMinMs
        backOffMaxMs = limits.redisBackOffMaxMs
        call = RedisCall.Limits(argumentsMax: limits.redisCallArgumentsMax, bytesMax: limits.redisCallBytesMax)
        outboundBytesMax = limits.redisOutboundBytesMax
        reply = RESPLimits(
            replyBytesMax: limits.redisReplyBytesMax, elementsMax: limits.redisReplyElementsMax, lineBytesMax: 65_536)
        sentinelCallMs = limits.sentinelCallMs
        sentinelPauseMs = limits.sentinelPauseMs
        sentinelRefreshMs = limits.sentinelRefreshMs
        sentinelUnsettledMs = limits.sentinelUnsettledMs
        clusterProofMs = limits.clusterProofMs
        clusterNodesMax = limits.clusterNodesMax
    }

    /// The same settings for another address, for a link of that kind.
    func at(_ url: RedisURL, role: ServerFacts.Role?) -> RedisTarget {
        var target = self
        target.url = url
        target.role = role
        if role != .master { target.layout = nil }
        return target
    }
}
