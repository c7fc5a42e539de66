import Calls
import Commands
import Configuration
import Connections
import Core
import EventLogs
import Fleet
import HTTPCodec
import HTTPSurface
import Operations
import Presence
import Reactors
import RedisLink
import Rights
import Service
import Sessions
import Topics
import Traces
import Transports

/// The rooms of a shard are made here, each from the ones below it.
extension Shard {
    private static func address(_ node: Node, _ index: Int) -> ShardAddress {
        ShardAddress(node: Array(node.name.utf8), shard: index)
    }

    /// The presence of a shard's sessions.
    static func presence(
        _ node: Node, _ index: Int, _ reactor: Reactor, _ link: any RedisCalls, _ reads: ReadScheduler,
        _ statistics: ShardStatistics
    ) throws(Errno) -> PresenceTracker {
        let origin = PresenceStore.Origin(node: Array(node.name.utf8), shard: index)
        let store = PresenceStore(link, node.scripts, node.keys, node.limits, reads, origin)
        return try PresenceTracker(reactor, store, reads, node.limits, statistics, origin)
    }

    /// The services of a shard's sessions.
    static func services(
        _ node: Node, _ index: Int, _ clock: ShardClock, _ statistics: ShardStatistics, _ deflation: Deflation,
        _ log: EventLog, _ topics: TopicTable<Session>, _ presence: PresenceTracker, _ commands: CommandService,
        _ trace: SessionTrace
    ) -> SessionServices {
        SessionServices(
            address: address(node, index), clock: clock,
            rules: SessionRules(
                limits: node.limits, access: node.access, budget: SessionBudgets(node, clock, log, topics)),
            topics: topics, encodings: EncodingTable(written: statistics.encodings, deflation: deflation), log: log,
            presence: presence, commands: SessionCommands(commands, log),
            callers: SessionCallers(node.gate, node.rates, node.clientLog, node.limits, clock, statistics),
            reports: SessionReports(node.clientLog, node.talkers, clock, statistics), trace: trace)
    }

    /// Logs a script's fault for its author, by the lines of its file.
    static func scriptFaults(_ node: Node, _ statistics: ShardStatistics) -> (_ name: String, _ text: String) -> Void {
        { name, text in
            statistics.commandFaults.add(1)
            let fault = node.library.table[name]?.source.translate(text) ?? text
            node.log.write(.error, "a script failed", [("script", name), ("fault", String(fault.prefix(500)))])
        }
    }

    /// The services by which a shard enforces rights.
    static func rights(
        _ node: Node, _ clock: ShardClock, _ link: any RedisCalls, _ topics: EventLog, _ open: OpenTransports
    ) -> RightsContext {
        RightsContext(
            clock: clock, isClockSettled: { [clock = node.clock] in clock.isSettled }, limits: node.limits,
            store: RightsStore(link: link, scripts: node.scripts, keys: node.keys, limits: node.limits),
            topics: topics, access: node.access, gate: node.gate, health: node.health,
            sessions: { open.sessions }, broadcast: { node.broadcast($0) })
    }

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
        _ node: Node, _ clock: ShardClock, _ statistics: ShardStatistics, _ deflation: Deflation,
        _ services: SessionServices, _ open: OpenTransports
    ) -> TransportContext {
        TransportContext(
            clock: clock, limits: node.limits, shardCount: node.shards.count, statistics: statistics,
            deflation: deflation, access: node.access, services: services, open: open, clientLog: node.clientLog,
            accessLog: node.accessLog)
    }

    /// The polling sessions of a shard, and the relay to those of other nodes.
    static func polling(
        _ node: Node, _ index: Int, _ transports: TransportContext, _ link: any RedisCalls, _ context: ConnectionContext
    ) -> PollingServer {
        let address = Shard.address(node, index)
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

    /// The questions over all nodes, and this shard's answers to them.
    static func fleet(
        _ node: Node, _ index: Int, _ transports: TransportContext, _ users: UserSessions,
        _ topics: TopicTable<Session>, _ link: any RedisCalls, _ reactor: Reactor
    ) throws(Errno) -> FleetService {
        let context = FleetContext(
            address: address(node, index), shardCount: node.shards.count, keys: node.keys, link: link,
            clock: transports.clock, limits: node.limits, access: node.fleet, figures: node.figures,
            statistics: transports.statistics, send: { node.shards[$1].send(.fleet($0)) })
        let answers = ShardAnswers(
            address: address(node, index), open: transports.open, users: users, topics: topics,
            trace: topics.trace, metrics: node.metrics, talkers: node.talkers, clock: transports.clock,
            taps: try WireTaps(transports.clock, node.log, reactor))
        return try FleetService(context, answers, reactor)
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
        let fleet: FleetService
    }

    /// The figures of a shard.
    static func statistics(_ node: Node, _ context: ConnectionContext, _ reactor: Reactor) -> ShardStatistics {
        ShardStatistics(
            transport: context.statistics, loop: reactor.statistics, namespaces: node.access.namespaces,
            timed: node.figures.timed)
    }

    /// The audit of a topic, which asks all shards.
    static func audit(_ node: Node, _ index: Int) -> TopicAudit {
        TopicAudit(shard: index, count: node.shards.count, limits: node.limits) { node.shards[$1].send(.audit($0)) }
    }

    /// The HTTP interface of a shard.
    static func http(_ node: Node, _ parts: HTTPParts, _ link: any RedisCalls, _ reactor: Reactor) -> HTTPServer {
        let answers = AnswerCounts(node.figures.routes)
        node.figures.answers.add(answers)
        let context = HTTPContext(
            clock: parts.transports.clock, limits: node.limits, statistics: parts.transports.statistics,
            answers: answers,
            gate: node.gate, rates: node.rates, callRights: node.callRights, library: node.library,
            dialects: node.dialects, health: node.health, memory: node.memory, log: node.log,
            clientLog: node.clientLog, talkers: node.talkers, accessLog: node.accessLog, options: node.http)
        let services = Router.Services(
            commands: parts.commands, topics: parts.topics, access: node.access,
            reading: TopicReading(
                nodeName: node.name,
                presence: { parts.presence.store.list($0, payer: $1, $2) },
                entries: { parts.presence.store.entries($0, payer: $1, $2) },
                report: { parts.audit.ask($0, nowMs: reactor.nowMs, $1) }),
            members: parts.members,
            deadLetters: DeadLetters(link: link, scripts: node.scripts, keys: node.keys, limits: node.limits),
            budgets: node.budgets, metrics: node.metrics, documents: node.documents, polling: parts.polling,
            fleet: parts.fleet,
            queues: QueueReader(
                link: link, keys: node.keys, services: node.library.catalogue.services, figures: node.figures),
            extra: node.extraRoutes?(
                ExtraRouteParts(context: context, commands: parts.commands, topics: parts.topics, reactor: reactor)))
        return HTTPServer(context, Router(context, services), parts.transports, parts.polling, node.proxyMismatch)
    }
}
