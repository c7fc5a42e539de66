public import Core
public import Transport

/// How to reach Redis, and how patient to be.
public struct RedisTarget: Sendable {
    /// Where it is and who we are there.
    public var url: RedisURL
    /// TLS settings for `rediss://`; ignored for other schemes.
    public var tls: TLSContext?
    /// Milliseconds for dialling, TLS and greeting together.
    public var connectMs: Int
    /// Milliseconds one call may take.
    public var callMs: Int
    /// Milliseconds without any reply, while replies are owed, after which a connection is given up.
    public var stallMs: Int
    /// Calls in flight on one link.
    public var inFlightMax: Int
    /// Channels in one SUBSCRIBE.
    public var subscribeBatch: Int
    /// Pause between dials, full jitter between these, milliseconds.
    public var backOffMinMs: Int
    /// See ``backOffMinMs``.
    public var backOffMaxMs: Int
    /// Bounds of one call.
    public var call: RedisCall.Limits
    /// Bytes of calls that wait to be written to one link.
    public var outboundBytesMax: Int
    /// Bounds of one reply.
    public var reply: RESPLimits
    /// Milliseconds one Sentinel has for an answer.
    var sentinelCallMs: Int
    /// Milliseconds from one question to the Sentinels to the next, at least.
    var sentinelPauseMs: Int
    /// Milliseconds until they are asked without a reason.
    var sentinelRefreshMs: Int
    /// Milliseconds for which they are asked again and again when a master may be changing.
    var sentinelUnsettledMs: Int
    /// Milliseconds for which an old master of a cluster is asked whether the new one has all that it wrote.
    var clusterProofMs: Int
    /// Nodes of a cluster that are known, and of which what was seen is remembered.
    var clusterNodesMax: Int
    /// What the layout of the keys must be; `nil`: nobody asks.
    public var layout: LayoutGuard?
    /// Lets links prove that positions outlive a restart; `nil`: they take the server's word.
    public var seal: RunSealSettings?
    /// What the server has to be, or the connection is refused; `nil` for a look at whatever is there.
    var role: ServerFacts.Role? = .master

    /// Takes the figures out of the node's limits.
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

    /// Whether Sentinels tell where the server is.
    public var hasSentinels: Bool {
        if case .sentinel = url.endpoint { return true }
        return false
    }

    /// Whether servers of data are spoken to by TLS.
    var speaksTLS: Bool {
        switch url.endpoint {
        case .network(_, _, let tls), .cluster(_, let tls): tls
        case .sentinel(let group): group.tls
        case .unix: false
        }
    }

    /// The same server manners at another address, for a link of that kind.
    func at(_ url: RedisURL, role: ServerFacts.Role?) -> RedisTarget {
        var target = self
        target.url = url
        target.role = role
        if role != .master { target.layout = nil }
        return target
    }
}
