public import Core
public import EventLogs
public import Operations
public import RedisLink
public import Rights
public import Service

/// The parts of a node that the bridge uses.
///
/// Thread: the first shard's.
public struct BridgeContext {
    /// The random name of the node.
    public let node: String
    /// The backends whose events it publishes.
    public let source: BridgeSource
    /// The limits of events, of what waits, and of links.
    public let limits: Limits
    /// The shard's link for calls.
    public let link: any RedisCalls
    /// The logs of topics, which events are published to.
    public let topics: EventLog
    /// The namespaces that exist.
    public let access: AccessPolicy
    /// The rules of Socket.IO's namespaces, by name.
    public let sockets: [String: SocketRules]
    /// The counters of the bridge.
    public let figures: BridgeStatistics
    /// The readiness table, whose row `bridge` it sets.
    public let health: Health
    /// The log, for refused messages and lost links.
    public let log: Log

    /// Takes the parts.
    public init(
        node: String, source: BridgeSource, limits: Limits, link: any RedisCalls, topics: EventLog,
        access: AccessPolicy, sockets: [String: SocketRules], figures: BridgeStatistics, health: Health, log: Log
    ) {
        self.node = node
        self.source = source
        self.limits = limits
        self.link = link
        self.topics = topics
        self.access = access
        self.sockets = sockets
        self.figures = figures
        self.health = health
        self.log = log
    }
}

@available(*, unavailable)
extension BridgeContext: Sendable {}
