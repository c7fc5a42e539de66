import Bridge
import Commands
import Configuration
import Connections
import Core
import EventLogs
import Fleet
import HTTPCodec
import HTTPSurface
import Operations
import Reactors
import RedisLink
import Rights
import Service
import Synchronization
import Topics
import Transports

/// The state that all threads of a gateway share: settings, rights, figures, and the mailboxes to each other.
///
/// Immutable once made, except for members that say how they are guarded. Thread: any.
final class Node: Sendable {
    /// A random name that identifies the node in logs and in `CLIENT LIST`.
    let name: String
    let limits: Limits
    let keys: Keys
    let redis: RedisTarget
    /// Number of replicas that must have an event before it is acknowledged; 0 for none.
    let redisWait: Int
    let library: ScriptLibrary
    let scripts: EventLogScripts
    let commands: CommandSettings
    /// The documents of `/v1/openapi.json`, by kind of caller.
    let documents: OpenAPIDocuments
    let access: AccessPolicy
    /// Decides which routes and commands a caller may use.
    let callRights: CallRights
    /// Proves to any node which session a client had.
    let proofs: SessionProofs
    /// The registry of dialects.
    let dialects: DialectRegistry
    /// Size in bytes from which on a message is deflated.
    let deflateBytesMin: Int
    let http: HTTPOptions
    /// The source of the bridge, and the rules of Socket.IO's namespaces for it; `nil` without a bridge.
    let bridged: (source: BridgeSource, sockets: [String: SocketRules])?
    /// Makes routes beside the gateway's own; `nil` where there are none.
    let extraRoutes: ExtraRoutesMaker?
    let log: Log
    /// The part of the log that names clients.
    let clientLog: ClientLog
    /// `nil` unless every request and connection is logged.
    let accessLog: ClientAccess?
    let health: Health
    let admission: NodeAdmission
    let memory: MemoryWatch
    /// The figures of this node.
    let figures: NodeFigures
    /// The page of metrics.
    let metrics: Metrics
    /// The time by which tokens, revocations and scripts are checked.
    let clock: NodeClock
    /// Mailboxes and wakes of the shards, by number.
    let shards: [Mailbox<ShardMessage>]
    let shardWakes: [Wake]
    /// The members of large topics, by shard.
    let crowds = FanoutCrowds()
    let proxyMismatch: ProxyMismatch
    /// Number of shards that have not ended.
    let shardsRunning = Atomic<Int>(0)
    /// The callers that ask most.
    let talkers = Talkers()
    /// The secret of all nodes and the rate of questions, for questions over all nodes.
    let fleet: FleetAccess
    /// The budgets of callers in this node.
    let budgets: Budgets
    /// Decides who a caller is.
    let gate: CallerGate
    /// The rates of callers in this node.
    let rates: CallerRates

    init(
        _ settings: GatewaySettings, parts: NodeParts, extraRoutes: ExtraRoutesMaker?, log: Log, accessLog: AccessLog?
    ) throws(Errno) {
        let name = String(decoding: SecureRandom.text(byteCount: 6), as: UTF8.self)
        self.name = name
        limits = settings.limits
        keys = settings.keys
        redis = parts.redis
        redisWait = settings.redisWait
        health = Health(isPartialEnough: settings.readyPartial, log: log)
        clock = parts.clock
        figures = NodeFigures(
            settings.limits, name: name, redisUser: parts.redis.url.userName, configHash: settings.configHash,
            routes: AnsweredRoutes(parts.library.catalogue.commands))
        library = parts.library
        scripts = parts.scripts
        commands = parts.commandSettings(settings)
        access = parts.access
        callRights = CallRights(parts.access, allowsAnonymous: settings.anonymous)
        let interface = OpenAPI(
            parts.library.catalogue, version: ProductVersion.text, limits: settings.limits,
            hasOperations: settings.ops == nil, errors: parts.library.routeErrors)
        documents = OpenAPIDocuments(interface, callRights)
        gate = CallerGate(parts.keys, origins: parts.origins, allowsAnonymous: settings.anonymous)
        let rates = CallerRates(settings.limits, trustedProxies: settings.trustProxies)
        self.rates = rates
        let proofs = SessionProofs()
        self.proofs = proofs
        dialects = DialectRegistry.standard(settings, proofs)
        deflateBytesMin = settings.deflateBytesMin
        bridged = BridgeSource(settings.bridge, settings.keys).map { ($0, settings.sockets) }
        http = HTTPOptions(settings, isLocal: extraRoutes != nil)
        self.extraRoutes = extraRoutes
        proxyMismatch = ProxyMismatch(settings.proxyProtocol, log: log)
        self.log = log
        self.accessLog = accessLog.map { ClientAccess(log: $0) }
        clientLog = ClientLog(log, node: name, linesPerSecond: settings.limits.clientLinesPerSecond)
        admission = NodeAdmission(limits: settings.limits, isShared: { rates.isTrustedProxy($0) })
        budgets = Budgets(settings.limits, talkers: talkers, nowMs: Clock.monotonicMs())
        fleet = FleetAccess(settings.limits, nowMs: Clock.monotonicMs())
        memory = MemoryWatch(boundBytes: MemoryWatch.bound(settings.limits.memoryBytesMax))
        var wakes: [Wake] = []
        for _ in 0..<parts.shardCount { wakes.append(try Wake()) }
        shardWakes = wakes
        shards = wakes.map { Mailbox(capacity: settings.limits.mailboxMax, wake: $0) }
        metrics = Metrics(
            figures: figures, health: health, admission: admission, memory: memory, budgets: budgets, gate: gate,
            log: log, clientLog: clientLog, accessLog: self.accessLog)
    }

    /// Replaces tokens' keys and API keys for new callers, and ends the sessions of removed keys.
    func reload(_ keys: CallerGate.Keys) {
        gate.replace(keys)
        _ = broadcast(RightsChange(keysReplaced: true))
    }

    /// Takes the secret of all nodes; false when a shard could not be notified.
    func useRelaySecret(_ secret: [UInt8]) -> Bool {
        proofs.use(secret)
        fleet.use(secret)
        return shards.reduce(true) { $1.send(.polling(.secret(secret))) && $0 }
    }

    /// Makes every shard check its sessions; false when one of them could not be notified.
    func broadcast(_ change: RightsChange) -> Bool {
        change.isEmpty || shards.allSatisfy { $0.send(.rights(change)) }
    }
}
