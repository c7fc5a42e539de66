internal import Connections
public import Reactors

/// The callbacks of the events of all servers.
///
/// Thread: the reactor's.
public protocol KeyEventsOwner: PatternLinkOwner {
    /// A server's setting of keyspace events was found in another state.
    func keyspaceFlags(_ state: KeyspaceFlags.State)
}

/// Events of keys and channels by pattern, from every server: a master of a cluster reports only its own keys.
///
/// Thread: the reactor's.
public final class KeyEvents {
    /// The events that are wanted.
    public struct Wish {
        /// Patterns and channels; at least one.
        public let patterns: [[UInt8]]
        /// See ``patterns``.
        public let channels: [[UInt8]]
        /// The setting that they need; `nil` when they come without any.
        public let flags: KeyspaceFlags?
        /// Milliseconds between two pings of a quiet link, and until one without an answer ends it.
        public let pingMs: Int
        /// See ``pingMs``.
        public let pongMs: Int

        /// Makes a wish.
        public init(patterns: [[UInt8]], channels: [[UInt8]], flags: KeyspaceFlags?, pingMs: Int, pongMs: Int) {
            self.patterns = patterns
            self.channels = channels
            self.flags = flags
            self.pingMs = pingMs
            self.pongMs = pongMs
        }
    }

    private struct Server {
        let patterns: PatternLink
        let keyspace: KeyspaceWatch?
    }

    private let setup: LinkSetup
    private let calls: any RedisLinks
    private let wish: Wish
    private unowned let owner: any KeyEventsOwner
    private let links: ServerLinks<Server>

    /// Subscribes at the present servers; ``follow(_:)`` takes later ones.
    public init(
        _ redis: WholeRedis, _ wish: Wish, name: String, owner: any KeyEventsOwner
    ) throws(Errno) {
        setup = redis.setup(name: name)
        calls = redis.link
        self.wish = wish
        self.owner = owner
        links = ServerLinks(setup.target) { [weak redis] in redis?.hint($0) }
        try links.begin(make)
        if let placement = redis.placement { follow(placement) }
    }

    private func make(_ server: ServerID, _ target: RedisTarget, _ directory: PrimaryDirectory) throws(Errno) -> Server
    {
        let patterns = try PatternLink(
            setup.context, target, directory, name: setup.name, patterns: wish.patterns, channels: wish.channels,
            pingMs: wish.pingMs, pongMs: wish.pongMs, owner: owner)
        let keyspace = wish.flags.map { flags in
            KeyspaceWatch(calls, server, flags) { [unowned owner] in owner.keyspaceFlags($0) }
        }
        return Server(patterns: patterns, keyspace: keyspace)
    }

    /// Takes a placement: every master is listened to, and other nodes no more.
    public func follow(_ placement: Placement) {
        links.follow(placement, make: make) { $0.patterns.stop() }
    }

    /// A connection for calls to a server is ready, so its setting can be checked.
    public func connected(_ server: ServerID) { links[server]?.keyspace?.connected() }

    /// Checks the servers' settings, when it is time.
    public func work(nowMs: Int) {
        for server in links.all { server.keyspace?.work(nowMs: nowMs) }
    }

    /// The time of the next check.
    public var nextMs: Int { links.all.compactMap { $0.keyspace?.nextMs }.min() ?? Int.max }

    /// Whether every server is listened to.
    public var isLive: Bool { every { $0.patterns.isLive } }

    /// Whether every server is listened to, and reports every change.
    public var isComplete: Bool { every { $0.patterns.isLive && $0.keyspace?.isOn != false } }

    /// Whether the events of every server arrive, or cannot for want of a right.
    public var isSettled: Bool { every { $0.patterns.isLive || $0.patterns.lastFailure != nil } }

    private func every(_ holds: (Server) -> Bool) -> Bool {
        let servers = links.all
        return !servers.isEmpty && servers.allSatisfy(holds)
    }

    /// Ends all subscriptions.
    public func stop() {
        for server in links.all { server.patterns.stop() }
    }
}

@available(*, unavailable)
extension KeyEvents: Sendable {}
