import Bridge
import Bus
import Calls
import Commands
import Configuration
import Connections
import Core
import Fleet
import Operations
import Presence
import Reactors
import RedisLink
import Service
import Topics
import Transports

/// A shard's links to Redis, and its part in proving that they lead to the right servers.
extension Shard: BusReceiver {
    /// The reports on the links of a shard.
    static func reporter(_ node: Node, _ index: Int, _ bus: ShardBus) -> LinkReporter {
        let reporter = LinkReporter(
            bus, shard: index, links: node.figures.redis, masters: node.figures.masters, log: node.log)
        // Every shard loads the same scripts; one of them reports.
        guard index == 0 else { return reporter }
        reporter.onBrokenScript = { [log = node.log, scripts = node.library.table] name, failure in
            let fault = scripts[name]?.source.compileFault(failure.detail) ?? failure.detail
            log.write(.error, "a script does not compile", [("script", name), ("fault", fault)])
        }
        return reporter
    }

    /// The links for the shard's calls.
    static func link(
        _ node: Node, _ context: ConnectionContext, _ index: Int, _ reporter: LinkReporter
    ) throws(Errno) -> any RedisLinks {
        try node.redis.topology.calls(
            LinkSetup(context, node.redis, name: "switchboard-\(node.name)-shard-\(index)"),
            registry: node.library.table.registry, observer: reporter)
    }

    /// The links that wait for replicas; `nil` where no acknowledgement waits for them.
    static func waits(
        _ node: Node, _ context: ConnectionContext, _ index: Int, _ reporter: LinkReporter
    ) throws(Errno) -> ReplicaWaits? {
        guard node.redisWait > 0 else { return nil }
        return try ReplicaWaits(
            LinkSetup(context, node.redis, name: "switchboard-\(node.name)-shard-\(index)-wait"),
            rules: ReplicaWaits.Rules(replicas: node.redisWait, waitMs: node.limits.redisWaitMs),
            asking: { reporter.hint($0) })
    }

    /// The subscription of a shard, and on the first one the lead of all links.
    ///
    /// Their connections are not counted with those of clients.
    static func begin(_ bus: ShardBus, _ node: Node, _ reactor: Reactor, _ shard: Shard) throws(Errno) -> NodeBus? {
        let context = ConnectionContext(
            reactor: reactor, limits: ConnectionLimits(node.limits, reactors: node.shards.count))
        try bus.begin(context, shard)
        return shard.index == 0 ? try NodeBus(node.busContext, context) : nil
    }

    /// The bridge of the node, on its first shard.
    static func bridge(_ node: Node, _ reactor: Reactor, _ shard: Shard) throws(Errno) -> EmitterBridge? {
        guard shard.index == 0, let bridged = node.bridged else { return nil }
        let context = ConnectionContext(
            reactor: reactor, limits: ConnectionLimits(node.limits, reactors: node.shards.count))
        let parts = BridgeContext(
            node: node.name, source: bridged.source, limits: node.limits, link: shard.link, topics: shard.store,
            access: node.access, sockets: bridged.sockets, figures: node.figures.bridge, health: node.health,
            log: node.log)
        return try EmitterBridge(parts, node.redis, context) { [bus = shard.bus] in bus.report(.hint($0)) }
    }

    // MARK: Messages

    func received(_ topic: Topic, _ event: ChannelMessage) { topics.received(topic, event) }

    func received(_ topic: Topic, _ update: PresenceUpdate) { presence.received(topic, update) }

    func confirmed(_ topic: Topic) {
        topics.confirmed(topic)
        presence.confirmed(topic)
    }

    func lost(_ topic: Topic) {
        topics.lost(topic)
        presence.lost(topic)
    }

    func allLost() {
        topics.lost()
        presence.lost()
    }

    func inbox(_ message: [UInt8]) {
        polling.beginBatch()
        pass(message)
        polling.endBatch()
    }

    private func pass(_ message: [UInt8]) {
        if NodeInbox.isFleet(message) { return fleet.received(message) }
        if NodeInbox.isAnswer(message) { commands.asks.received(message) } else { polling.take(.relay(message)) }
    }

    // MARK: Orders

    /// Takes an order of the first shard.
    func take(_ order: BusOrder) {
        switch order {
        case .follow(let placement): follow(placement)
        case .subscribe(let placement):
            bus.follow(placement)
            bridge?.follow(placement)
        case .listen(let channels):
            for server in bus.listen(channels) { reporter.again(server, at: link) }
        case .probe(let server, let channel, let number): probe(server, channel, number)
        case .reconnect(.calls, let server, let reason): link.reconnect(server, RedisFailure(reason))
        case .reconnect(.subscriber, let server, let reason): bus.reconnect(server, reason)
        case .inbox(let message): pass(message)
        }
    }

    /// Leads all links for calls to the present servers, and reports that none leads elsewhere any more.
    private func follow(_ placement: Placement) {
        link.follow(placement)
        replicas?.follow(placement)
        bus.report(.followed(shard: index, generation: placement.generation))
    }

    /// Writes and publishes a number by the link for publishes; the subscriber links of all shards must receive it.
    ///
    /// PUBLISH alone works on a server that refuses writes: on a replica, while data are loaded, and where replicas are
    /// missing. So the same script also writes a key, which expires after a moment.
    private func probe(_ server: ServerID, _ channel: [UInt8], _ number: Int) {
        guard let link = link.link(to: server) else { return }
        let call = probeCall(number, channel, self.link.isSharded ? "SPUBLISH" : "PUBLISH")
        link.call(call) { [bus, index] result in
            guard let failure = result.failure, Shard.isReported(failure) else { return }
            bus.report(.refused(number, shard: index, server, failure))
        }
        self.link.recheck(server)
        replicas?.recheck(server)
    }

    private func probeCall(_ number: Int, _ channel: [UInt8], _ sending: StaticString) -> RedisCall {
        var payload: [UInt8] = []
        payload.append(decimal: index)
        payload.append(UInt8(ascii: " "))
        payload.append(decimal: number)
        var call = RedisCall("EVAL")
        call.append(
            "redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return redis.call(ARGV[3], KEYS[1], ARGV[1])")
        call.append(decimal: 1)
        call.append(channel)
        call.append(payload)
        call.append(decimal: limits.redisProbeTimeoutMs)
        call.append(sending)
        return call
    }

    /// Other failures say nothing about the write; then the number that does not return shows it.
    private static func isReported(_ failure: RedisFailure) -> Bool {
        ![.timedOut, .disconnected, .inFlightFull].contains(failure.kind)
    }

    /// The current masters with a working link.
    var masters: [LoadWatch.Master] {
        link.servers.compactMap { server in
            guard link.facts(of: server) != nil, let made = link.link(to: server), let place = link.place(of: server)
            else { return nil }
            return LoadWatch.Master(name: place, link: made)
        }
    }
}
