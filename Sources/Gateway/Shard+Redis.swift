import Commands
import Configuration
import Core
import Operations
import Reactors
import RedisLink
import Service
import Transport

/// A shard's links to Redis, and its part in proving that they lead to the right servers.
extension Shard {
    /// The directory of primaries for the links of a shard; the broker finds them for all shards.
    static func directory(_ node: Node) -> PrimaryDirectory {
        guard node.redis.hasSentinels else { return PrimaryDirectory(fixed: node.redis.url) }
        let bus = node.bus
        return PrimaryDirectory { _ = bus.send(.servers($0)) }
    }

    /// The links for the shard's calls: the same link three times, as different types.
    static func links(
        _ node: Node, _ context: ConnectionContext, _ directory: PrimaryDirectory, _ index: Int, _ news: LinkReporter,
        _ clusterReporter: ClusterReporter
    ) throws(Errno) -> (any RedisCalls, CallLink?, ClusterLink?) {
        let (log, scripts) = (node.log, node.library.table)
        let onBrokenScript = { (name: String, failure: RedisFailure) in
            // Every shard loads the same scripts; one of them reports.
            guard index == 0 else { return }
            let fault = scripts[name]?.source.compileFault(failure.detail) ?? failure.detail
            log.write(.error, "a script does not compile", [("script", name), ("fault", fault)])
        }
        let name = "switchboard-\(node.name)-shard-\(index)"
        guard node.redis.url.isCluster else {
            let made = try CallLink(
                context, node.redis, directory, name: name, registry: scripts.registry, onBrokenScript: onBrokenScript,
                onReady: { facts in
                    news.connected(facts)
                    let version = facts.version.map { String($0) }.joined(separator: ".")
                    log.write(.info, "redis connected", [("shard", "\(index)"), ("version", version)])
                })
            node.figures.redis.add(made.statistics)
            if index == 0 { made.onDoubt = { log.write(.warn, "\($0)", []) } }
            return (made, made, nil)
        }
        let made = try ClusterLink(
            context, node.redis, name: name, registry: scripts.registry,
            news: ClusterLink.News(
                onReady: { master, facts in
                    clusterReporter.connected(master, facts)
                    news.onConnected()
                },
                onStale: { clusterReporter.stale($0) },
                statistics: {
                    node.figures.masters.statistics(of: $0.address.description, link: "shard-\(index)")
                },
                onHistory: { master, before, keepsEpochs in
                    node.figures.masters.historyChanged(keepsEpochs: keepsEpochs)
                    FailoverLog.tell(master, before: before, keepsEpochs: keepsEpochs, part: "shard-\(index)", log)
                },
                onBrokenScript: onBrokenScript))
        return (made, nil, made)
    }

    /// The links that wait for replicas; `nil` where no acknowledgement waits for them.
    static func wait(
        _ node: Node, _ context: ConnectionContext, _ directory: PrimaryDirectory, _ index: Int
    ) throws(Errno) -> ReplicaWaits? {
        guard node.redisWait > 0 else { return nil }
        return try ReplicaWaits(
            context, node.redis, directory, name: "switchboard-\(node.name)-shard-\(index)-wait",
            rules: ReplicaWaits.Rules(replicas: node.redisWait, waitMs: node.limits.redisWaitMs))
    }

    /// Writes and publishes a number by the link for publishes; the broker's link must receive it.
    ///
    /// PUBLISH alone works on a server that refuses writes: on a replica, while data are loaded, and where replicas are
    /// missing. So the same script also writes a key, which expires after a moment.
    func probe(_ number: Int) {
        guard let link = single else { return }
        link.call(probeCall(number, node.probeChannel, "PUBLISH")) { [node, index] result in
            guard let failure = result.failure, Shard.isReported(failure) else { return }
            _ = node.bus.send(.probeRefused(shard: index, number: number, failure))
        }
        link.recheck()
        replicas?.recheck()
    }

    /// The same at one master of a cluster, on a channel of one of its slots.
    func probe(_ master: [UInt8], _ channel: [UInt8], _ number: Int) {
        guard let link = cluster?.link(to: master) else { return }
        link.call(probeCall(number, channel, "SPUBLISH")) { [node, index] result in
            guard let failure = result.failure, Shard.isReported(failure) else { return }
            _ = node.bus.send(.masterProbeRefused(shard: index, master, number: number, failure))
        }
        cluster?.recheck(master)
        replicas?.recheck(master)
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
        if let cluster {
            return cluster.linkedNodes.compactMap { id in
                guard cluster.facts(id) != nil, let link = cluster.link(to: id), let address = cluster.address(of: id)
                else { return nil }
                return LoadWatch.Master(name: address.description, link: link)
            }
        }
        guard let single, single.isReady else { return [] }
        let endpoint = directory.map?.masters.first?.endpoint ?? node.redis.url.endpoint
        return [LoadWatch.Master(name: endpoint.place, link: single)]
    }

    /// Applies a new map of the servers, and reports that no link leads elsewhere any more.
    func use(_ map: ServerMap) {
        directory.take(map)
        _ = node.bus.send(.moved(shard: index, generation: map.generation))
    }
}
