import Configuration
public import Operations
public import RedisLink
public import Service

/// Reports a shard's links for calls to the first shard: each connection, and each new failure.
///
/// Thread: the shard's.
public final class LinkReporter: LinkObserver {
    private let bus: ShardBus
    private let shard: Int
    private let links: Registry<RedisStatistics>
    private let masters: MasterFigures
    private let log: Log
    private var reported: [ServerID: LinkReport] = [:]
    /// Called when a connection is ready; set once the topics exist.
    public var onConnected: () -> Void = {}
    /// Receives the name of a script that does not compile, and the server's message.
    public var onBrokenScript: (String, RedisFailure) -> Void = { _, _ in }
    /// Returns the last event of the shard's log; set once that exists.
    public var lastEvent: () -> LinkWitness? = { nil }

    /// A reporter of a shard's links, which counts single servers in `links` and a cluster's in `masters`.
    public init(
        _ bus: ShardBus, shard: Int, links: Registry<RedisStatistics>, masters: MasterFigures, log: Log
    ) {
        self.bus = bus
        self.shard = shard
        self.links = links
        self.masters = masters
        self.log = log
    }

    /// Reports changes; called now and then.
    public func look(at link: any RedisLinks) {
        let servers = link.servers
        let linked = Set(servers)
        reported = reported.filter { linked.contains($0.key) }
        for server in servers { report(server, link.report(of: server)) }
    }

    /// The first shard has begun the proof of a server.
    public func again(_ server: ServerID, at link: any RedisLinks) {
        reported[server] = nil
        look(at: link)
    }

    /// The links have ended with their shard.
    public func ended() {
        for server in reported.keys { report(server, .ended) }
    }

    private func report(_ server: ServerID, _ report: LinkReport) {
        guard report != reported[server] else { return }
        reported[server] = report
        bus.report(.link(.calls, shard: shard, server, report))
    }

    // MARK: LinkObserver

    /// Reports a new connection, even to the same process as before, since every one must be proven.
    public func connected(_ server: ServerID, _ facts: ServerFacts) {
        reported[server] = nil
        report(server, .up(runID: facts.runID))
        onConnected()
        // A cluster's masters are logged once, by the first shard's subscription.
        guard server.isEmpty else { return }
        let version = facts.version.map { String($0) }.joined(separator: ".")
        log.write(.info, "redis connected", [("shard", "\(shard)"), ("version", version)])
    }

    /// Passes the hint to the first shard, whose answer is a placement.
    public func hint(_ hint: ServerHint) { bus.hint(hint) }

    /// The figures of a master are those of its address; those of a single server are new.
    public func statistics(of address: ClusterAddress?) -> RedisStatistics {
        if let address { return masters.statistics(of: address.description, link: "shard-\(shard)") }
        let made = RedisStatistics()
        links.add(made)
        return made
    }

    /// Counts and logs the change.
    public func historyChanged(_ master: ClusterAddress, before: ClusterAddress?, keepsEpochs: Bool) {
        masters.historyChanged(keepsEpochs: keepsEpochs)
        FailoverLog.tell(master, before: before, keepsEpochs: keepsEpochs, part: "shard-\(shard)", log)
    }

    /// Calls ``onBrokenScript``.
    public func scriptIsBroken(_ name: String, _ failure: RedisFailure) { onBrokenScript(name, failure) }

    /// Logs the text, on the first shard alone.
    public func epochsAreInDoubt(_ text: StaticString) {
        // Every shard finds the same; one of them reports.
        if shard == 0 { log.write(.warn, "\(text)", []) }
    }

    /// The last event of the shard's log, by ``lastEvent``.
    public func witness() -> LinkWitness? { lastEvent() }
}
