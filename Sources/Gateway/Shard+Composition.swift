import Commands
import Configuration
import Core
import HTTPCodec
import Reactors
import RedisLink
import Rights
import Service
import Transport

/// The rooms of a shard are made here, each from the ones below it.
extension Shard {
    /// The commands of a shard, by its links and the budget of its reads.
    static func commands(
        _ node: Node, _ index: Int, _ link: any RedisCalls, _ replicas: ReplicaWaits?, _ reads: ReadScheduler,
        _ statistics: ShardStatistics, _ clock: ShardClock, _ topics: EventLog
    ) -> CommandService {
        CommandService(
            CallsContext(
                nodeName: node.name, shard: index, shardCount: node.shards.count, limits: node.limits, link: link,
                replicas: replicas, library: node.library, scripts: node.scripts, settings: node.commands,
                callRights: node.callRights, gate: node.gate, rates: node.rates, budgets: node.budgets, reads: reads,
                statistics: statistics, log: node.log, nowMs: { clock.nowMs }),
            top: { topics.top($0) })
    }

    /// The services that the transports of a shard share.
    static func transports(
        _ node: Node, _ clock: ShardClock, _ statistics: ShardStatistics, _ deflation: Deflation, _ open: OpenTransports
    ) -> TransportContext {
        TransportContext(
            clock: clock, limits: node.limits, shardCount: node.shards.count, statistics: statistics,
            deflation: deflation, access: node.access, open: open, clientLog: node.clientLog,
            accessLog: node.accessLog)
    }

    /// The polling sessions of a shard, and the relay to those of other nodes.
    static func polling(
        _ node: Node, _ index: Int, _ transports: TransportContext, _ link: any RedisCalls, _ context: ConnectionContext
    ) -> PollingServer {
        let address = ShardAddress(node: Array(node.name.utf8), shard: index)
        return PollingServer(
            transports,
            PollingServer.Neighbours(
                address: address, places: node.admission,
                send: { node.shards[$1].send(.polling($0)) },
                adopt: { Connection.arrive($0, in: context, handler: $1) }),
            relay: RelayContext(
                address: address, keys: node.keys, link: link, clock: transports.clock, limits: node.limits,
                statistics: transports.statistics, rates: node.rates, budgets: node.budgets))
    }

    /// The rooms below the HTTP interface.
    struct HTTPParts {
        let commands: CommandService
        let topics: EventLog
        let presence: PresenceTracker
        let members: RightsStore
        let audit: TopicAudit
        let transports: TransportContext
        let polling: PollingServer
    }

    /// The HTTP interface of a shard.
    static func http(_ node: Node, _ parts: HTTPParts, _ link: any RedisCalls, _ reactor: Reactor) -> HTTPServer {
        let context = HTTPContext(
            clock: parts.transports.clock, limits: node.limits, statistics: parts.transports.statistics,
            gate: node.gate, rates: node.rates, callRights: node.callRights, library: node.library,
            dialects: node.dialects, health: node.health, memory: node.memory, log: node.log,
            clientLog: node.clientLog, accessLog: node.accessLog, options: node.http)
        let services = Router.Services(
            commands: parts.commands, topics: parts.topics, access: node.access,
            reading: TopicReading(
                nodeName: node.name,
                presence: { parts.presence.store.list($0, payer: $1, $2) },
                report: { parts.audit.ask($0, nowMs: reactor.nowMs, $1) }),
            members: parts.members,
            deadLetters: DeadLetters(link: link, scripts: node.scripts, keys: node.keys, limits: node.limits),
            budgets: node.budgets, metrics: node.metrics, documents: node.documents, polling: parts.polling,
            extra: node.extraRoutes?(
                ExtraRouteParts(context: context, commands: parts.commands, topics: parts.topics, reactor: reactor)))
        return HTTPServer(
            context, Router(context, services), parts.transports, parts.polling, node.proxyMismatch)
    }
}
