import Commands
import Configuration
import Core
import HTTPCodec
import Reactors
import RedisLink
import Rights
import Service
import Synchronization
import Transport

/// The state that all threads of a gateway share: settings, rights, figures, and the mailboxes to each other.
///
/// Immutable once made, except for members that say how they are guarded. Thread: any.
final class Node: Sendable {
    /// Rights that a reload may replace.
    struct Reloadable: Sendable {
        /// Checks credentials.
        var authenticator: Authenticator
        /// The certificate of the TLS listener: pages of a name in it are the gateway's own.
        var certificate: TLSContext?
    }

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
    let origins: OriginPolicy
    /// Proves to any node which session a client had.
    let proofs: SessionProofs
    /// The registry of dialects.
    let dialects: DialectRegistry
    let servesEcho: Bool
    /// Whether the gateway agrees on `permessage-deflate`.
    let deflates: Bool
    /// Size in bytes from which on a message is deflated.
    let deflateBytesMin: Int
    let testFault: TestFault
    let servesPages: Bool
    /// Creates guests for the demo's page; `nil` where there is none.
    let guests: DemoGuests?
    /// The demo's phones; `nil` where no pushes are sent.
    let phones: DemoPhones?
    let allowsAnonymous: Bool
    let log: Log
    /// The part of the log that names clients.
    let clientLog: ClientLog
    /// The field that restricts browsers on TLS to TLS; `nil` where it is not sent, as by `switchboard dev`.
    let strictTransport: HTTPResponse.Field?
    /// `nil` unless every request and connection is logged.
    let accessLog: ClientAccess?
    /// The number of the newest connection, for the access log.
    private let connectionNumber = Atomic<Int>(0)
    let health: Health
    let admission: NodeAdmission
    let memory: MemoryWatch
    let statistics = BusStatistics()
    let reloads = ReloadStatistics()
    let shardStatistics = Registry<ShardStatistics>()
    /// The figures of the broker's loop; `nil` until it runs.
    let busLoop = Guarded<LoopStatistics?>(nil)
    let redisStatistics = Registry<RedisStatistics>()
    let sentinelStatistics = SentinelStatistics()
    let masterFigures: MasterFigures
    /// The masters' answers about loading their own files.
    let loads: Guarded<LoadBook>
    /// State of the outbox.
    let outbox: Guarded<OutboxBook>
    /// Memory, evictions and persistence of the masters.
    let servers: Guarded<ServerBook>
    /// Number of live workers; `nil` while it is unknown.
    let workersAlive = Guarded<Int?>(nil)
    /// Calls of outside services, by service.
    let outsideCalls = Guarded<[String: CallsFigures]>([:])
    /// When the node was made, monotonic milliseconds.
    let startedMs = Clock.monotonicMs()
    /// Periods in which the whole process stood still.
    let stalls = ProcessStalls()
    /// The time by which tokens, revocations and scripts are checked.
    let clock: NodeClock
    /// State of this machine's clock, and the other processes that share the Redis.
    let nodes: Guarded<NodeBook>
    /// Mailboxes and wakes of the shards, by number.
    let shards: [Mailbox<ShardMessage>]
    let shardWakes: [Wake]
    let bus: Mailbox<BusRequest>
    let busWake: Wake
    /// Which listeners expect a PROXY header from trusted addresses.
    let proxyProtocol: ProxyProtocol
    /// Whether a proxy that does not match its listener was logged.
    let hasToldProxyHeaders = Atomic<Bool>(false)
    /// Whether the demo's backend processes an order.
    let isDemoOrderRunning = Atomic<Bool>(false)
    /// Number of shards that have not ended.
    let shardsRunning = Atomic<Int>(0)
    private let trustedProxies: [CIDR]
    private let reloadable: Guarded<Reloadable>
    /// The budgets of callers in this node.
    let budgets: Budgets
    let revocations = Guarded(Revocations())
    private let userActions: Guarded<KeyedBuckets<[UInt8]>>
    private let addressRequests: Guarded<KeyedBuckets<IPAddress>>
    private let addressDocuments: Guarded<KeyedBuckets<IPAddress>>

    init(
        _ settings: GatewaySettings, parts: NodeParts, servesPages: Bool, guests: DemoGuests?,
        phones: DemoPhones?, log: Log, accessLog: AccessLog?
    ) throws(Errno) {
        let name = String(decoding: SecureRandom.text(byteCount: 6), as: UTF8.self)
        self.name = name
        limits = settings.limits
        keys = settings.keys
        redis = parts.redis
        redisWait = settings.redisWait
        health = Health(isPartialEnough: settings.readyPartial, log: log)
        loads = Guarded(LoadBook(user: parts.redis.url.userName))
        outbox = Guarded(OutboxBook(lateMs: settings.limits.outboxLateMs))
        servers = Guarded(
            ServerBook(
                evictionWarnMs: settings.limits.evictionWarnMs, percentMax: settings.limits.redisMemoryPercent))
        clock = parts.clock
        nodes = Guarded(
            NodeBook(NodeEntry(.gateway, name: Array(name.utf8)), boundMs: settings.limits.clockMs))
        masterFigures = MasterFigures(addressesMax: settings.limits.clusterNodesMax)
        library = parts.library
        scripts = parts.scripts
        commands = parts.commandSettings(settings)
        access = parts.access
        callRights = CallRights(parts.access, allowsAnonymous: settings.anonymous)
        let interface = OpenAPI(
            parts.library.catalogue, version: ProductVersion.text, limits: settings.limits,
            hasOperations: settings.ops == nil, errors: parts.library.routeErrors)
        documents = OpenAPIDocuments(interface, callRights)
        origins = parts.origins
        let proofs = SessionProofs()
        self.proofs = proofs
        dialects = DialectRegistry.standard(settings, proofs)
        servesEcho = settings.echo
        deflates = settings.deflate
        deflateBytesMin = settings.deflateBytesMin
        testFault = settings.testFault
        self.servesPages = servesPages
        self.guests = guests
        self.phones = phones
        allowsAnonymous = settings.anonymous
        proxyProtocol = settings.proxyProtocol
        self.log = log
        let hstsSeconds = settings.limits.hstsSeconds
        strictTransport = HTTPHeaderValue("max-age=\(hstsSeconds)").flatMap { value in
            hstsSeconds > 0 && !servesPages ? HTTPResponse.Field(.strictTransportSecurity, value) : nil
        }
        self.accessLog = accessLog.map { ClientAccess(log: $0) }
        clientLog = ClientLog(log, node: name, linesPerSecond: settings.limits.clientLinesPerSecond)
        let proxies = settings.trustProxies
        trustedProxies = proxies
        admission = NodeAdmission(
            limits: settings.limits, isShared: { address in proxies.contains { $0.contains(address) } })
        reloadable = Guarded(parts.reloadable)
        let perSecond = settings.limits.userActionsPerSecond
        userActions = Guarded(
            KeyedBuckets(
                RateLimit(perSecond: perSecond, burst: perSecond * 2), capacity: settings.limits.rateBucketsMax))
        budgets = Budgets(settings.limits, nowMs: Clock.monotonicMs())
        let requests = settings.limits.requestsPerAddressPerSecond
        addressRequests = Guarded(
            KeyedBuckets(RateLimit(perSecond: requests, burst: requests * 2), capacity: settings.limits.rateBucketsMax))
        let documentRate = settings.limits.documentsPerAddressPerSecond
        addressDocuments = Guarded(
            KeyedBuckets(
                RateLimit(perSecond: documentRate, burst: documentRate * 10), capacity: settings.limits.rateBucketsMax))
        memory = MemoryWatch(boundBytes: MemoryWatch.bound(settings.limits.memoryBytesMax))
        var wakes: [Wake] = []
        for _ in 0..<parts.shardCount { wakes.append(try Wake()) }
        shardWakes = wakes
        shards = wakes.map { Mailbox(capacity: settings.limits.mailboxMax, wake: $0) }
        busWake = try Wake()
        bus = Mailbox(capacity: settings.limits.mailboxMax, wake: busWake)
    }

    /// A number that no other connection of this node has had.
    func newConnectionNumber() -> Int { connectionNumber.add(1, ordering: .relaxed).newValue }

    /// The current keys and names; replaced by a reload.
    var rights: Reloadable { reloadable.withLock { $0 } }

    /// Replaces tokens' keys and API keys for new callers, and ends the sessions of removed keys.
    func reload(_ rights: Reloadable) {
        reloadable.withLock { $0 = rights }
        _ = tellShards(RightsChange(keysReplaced: true))
    }

    /// Whether a peer may report addresses of others; a unix socket (`nil`) is in no range.
    func isTrustedProxy(_ address: IPAddress?) -> Bool {
        guard let address else { return false }
        return trustedProxies.contains { $0.contains(address) }
    }

    /// The payer whose budget is charged for a caller at an address; trusted proxies and unix sockets stand for many.
    func payer(_ caller: Caller, at address: IPAddress?) -> Payer {
        caller.payer(from: isTrustedProxy(address) ? nil : address)
    }

    /// Counts one publish or command against a user's rate on this node; returns the milliseconds until the next is
    /// allowed.
    ///
    /// `nil` when it was counted.
    func waitForUserAction(_ user: [UInt8], nowMs: Int) -> Int? {
        userActions.withLock { $0.takeOrWaitMs(user, nowMs: nowMs) }
    }

    /// The same for an HTTP request of an address; trusted proxies and unix sockets stand for many and are not counted.
    func waitForRequest(_ address: IPAddress?, nowMs: Int) -> Int? {
        guard let address, !isTrustedProxy(address) else { return nil }
        return addressRequests.withLock { $0.takeOrWaitMs(address.limitKey, nowMs: nowMs) }
    }

    /// The same for an OpenAPI document, which is large.
    func waitForDocument(_ address: IPAddress?, nowMs: Int) -> Int? {
        guard let address, !isTrustedProxy(address) else { return nil }
        return addressDocuments.withLock { $0.takeOrWaitMs(address.limitKey, nowMs: nowMs) }
    }
}
