import Bus
import Calls
import Commands
import Configuration
import Connections
import Core
import Operations
import Presence
import Reactors
import RedisLink
import Service
import Topics
import Transports

/// A shard's links to Redis and to the bus, and its part in proving that they lead to the right servers.
extension Shard {
    /// The reports on the links of a shard.
    static func reporter(_ node: Node, _ index: Int) -> LinkReporter {
        let reporter = LinkReporter(
            node.bus, shard: index, links: node.figures.redis, masters: node.figures.masters, log: node.log)
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

    /// Takes an event of the bus.
    func take(_ event: BusEvent) {
        switch event {
        case .event(let topic, let event): topics.received(topic, event)
        case .presence(let topic, let update): presence.received(topic, update)
        case .confirmed(let topic):
            topics.confirmed(topic)
            presence.confirmed(topic)
        case .topicLost(let topic):
            topics.lost(topic)
            presence.lost(topic)
        case .lost:
            topics.lost()
            presence.lost()
        case .inbox(let message):
            if NodeInbox.isAnswer(message) { commands.asks.received(message) } else { polling.take(.relay(message)) }
        case .follow(let placement): follow(placement)
        case .probe(let server, let channel, let number): probe(server, channel, number)
        case .reconnect(let server, let reason): link.reconnect(server, RedisFailure(reason))
        case .reportLink(let server): reporter.again(server, at: link)
        }
    }

    /// Leads all links to the present servers, and reports that none leads elsewhere any more.
    private func follow(_ placement: Placement) {
        link.follow(placement)
        replicas?.follow(placement)
        _ = node.bus.send(.followed(shard: index, generation: placement.generation))
    }

    /// Writes and publishes a number by the link for publishes; the bus must receive it.
    ///
    /// PUBLISH alone works on a server that refuses writes: on a replica, while data are loaded, and where replicas are
    /// missing. So the same script also writes a key, which expires after a moment.
    private func probe(_ server: ServerID, _ channel: [UInt8], _ number: Int) {
        guard let link = link.link(to: server) else { return }
        let call = probeCall(number, channel, self.link.isSharded ? "SPUBLISH" : "PUBLISH")
        link.call(call) { [node, index] result in
            guard let failure = result.failure, Shard.isReported(failure) else { return }
            _ = node.bus.send(.probeRefused(shard: index, server, number: number, failure))
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
