import CLinux
public import Configuration
import Connections
import Core
import Glibc
public import HTTPSurface
public import Operations
import Reactors
import RedisLink
import Rights
public import Service
import Synchronization

/// A running gateway: starts its threads, and stops, drains or reloads them.
///
/// Thread: main.
public final class GatewayNode {
    private let node: Node
    private let settings: GatewaySettings
    /// TLS of new connections; a reload replaces it.
    private var tls: TLSContext?
    private var threads: [Reactors.Thread] = []
    private var heapTrim = HeapTrim()
    private var keySetWatch: FileWatch?
    /// When readiness turned red for a drain, monotonic milliseconds; `nil` unless one is under way.
    private var drainBeganMs: Int?
    /// Number of connections that were open when the node was stopped at once.
    private var connectionsCut = 0
    /// Addresses on which the gateway listens, or will listen.
    public let addresses: ListenerAddresses
    /// Listeners of clients that are bound and not open yet.
    private var awaiting: [ListenerPlan]
    /// The latest time at which they open, monotonic milliseconds.
    private let listenByMs: Int
    /// Whether clients can connect.
    public private(set) var isListening = false
    /// The reason for which the last ``reload()`` changed nothing; `nil` when it did, or before the first.
    public private(set) var reloadRefusal: String?

    /// Reads every file, binds every address, starts every thread; after a problem nothing is left running.
    ///
    /// `extraRoutes` makes routes that are served beside the gateway's own, as by `switchboard dev`.
    public init(
        _ settings: GatewaySettings, extraRoutes: ExtraRoutesMaker? = nil, log: Log
    ) throws(StartProblem) {
        self.settings = settings
        keySetWatch = settings.jwks.map { FileWatch($0) }
        let parts = try NodeParts(settings)
        tls = parts.tls
        SecretFiles.warn(settings, log)
        let accessLog = try GatewayNode.accessLog(settings)
        do {
            node = try Node(
                settings, parts: parts, extraRoutes: extraRoutes, log: log, accessLog: accessLog)
        } catch {
            throw StartProblem("cannot start: \(error)")
        }
        let (plans, addresses) = try GatewayNode.bind(settings, parts: parts, node: node)
        self.addresses = addresses
        // Readiness can be queried at once.
        let operations = plans.filter(\.role.isOperations)
        for plan in operations { try GatewayNode.listen(plan, log) }
        awaiting = plans.filter { !$0.role.isOperations }
        listenByMs = Clock.monotonicMs() + settings.limits.listenGraceMs
        do {
            for index in 0..<parts.shardCount { threads.append(try GatewayNode.startShard(node, index, operations)) }
        } catch {
            throw StartProblem("cannot start a thread: \(error)")
        }
        node.health.checkDescriptors(connectionsMax: settings.limits.connectionsMax)
    }

    private static func accessLog(_ settings: GatewaySettings) throws(StartProblem) -> AccessLog? {
        guard let path = settings.accessLog else { return nil }
        return try AccessLog(path, settings.log, linesMax: settings.limits.logLinesMax)
    }

    private static func startShard(_ node: Node, _ index: Int, _ plans: [ListenerPlan]) throws(Errno)
        -> Reactors.Thread
    {
        node.shardsRunning.add(1, ordering: .relaxed)
        return try Reactors.Thread.start("shard-\(index)") {
            defer { node.shardsRunning.subtract(1, ordering: .releasing) }
            var unopened = plans[...]
            do throws(Errno) {
                let reactor = try Reactor(wake: node.shardWakes[index])
                let shard = try Shard(node: node, index: index, reactor: reactor, mailbox: node.shards[index])
                while let plan = unopened.popFirst() { try shard.listen(plan) }
                withExtendedLifetime(shard) { reactor.run() }
            } catch {
                for var plan in unopened { plan.close([index]) }
                node.log.write(.error, "a shard cannot run", [("shard", "\(index)"), ("reason", error.description)])
                node.health.failed(.shard(index), .shardFailed)
            }
        }
    }

    // MARK: Binding

    private static func bind(
        _ settings: GatewaySettings, parts: NodeParts, node: Node
    ) throws(StartProblem) -> ([ListenerPlan], ListenerAddresses) {
        var plans: [ListenerPlan] = []
        var addresses = ListenerAddresses()
        func add(
            _ name: String, _ address: HostPort, _ tls: TLSContext?, _ role: ListenerRole, proxy: Bool
        ) throws(StartProblem) -> HostPort {
            let (descriptors, bound) = try ListenerPlan.bind(
                address, count: node.shards.count, isShared: settings.reusePort)
            plans.append(
                ListenerPlan(
                    name: name, tls: tls, role: role, expectsProxyHeader: { proxy && node.rates.isTrustedProxy($0) },
                    admission: role.isOperations ? OpenAdmission() : node.admission, address: bound,
                    descriptors: descriptors))
            return bound
        }
        let front = ListenerRole.front(operations: settings.ops == nil)
        if let listen = settings.listen {
            addresses.tls = try add("tls", listen, parts.tls, front, proxy: settings.proxyProtocol.onTLS)
        }
        if let listen = settings.listenPlain {
            addresses.plain = try add("plain", listen, nil, front, proxy: settings.proxyProtocol.onPlain)
        }
        if let listen = settings.ops {
            addresses.operations = try add("ops", listen, nil, .operations, proxy: false)
        }
        return (plans, addresses)
    }

    private static func listen(_ plan: ListenerPlan, _ log: Log) throws(StartProblem) {
        try plan.listen()
        log.write(.info, "listening", [("listener", plan.name), ("address", plan.address.description)])
    }

    /// Opens the listeners of clients once delivery is proven, or after `listenGraceMs`; true when it did.
    ///
    /// Until then the kernel refuses connections, so a balancer uses another node. Called often until ``isListening``.
    public func listenIfDue() throws(StartProblem) -> Bool {
        guard !isListening, node.health.isDeliveryProven || Clock.monotonicMs() >= listenByMs else { return false }
        isListening = true
        for var plan in awaiting {
            if plan.tls != nil { plan.tls = tls }
            plan.close(node.health.failedShards)
            try GatewayNode.listen(plan, node.log)
            for mailbox in node.shards { _ = mailbox.send(.listen(plan)) }
        }
        awaiting = []
        return true
    }

    // MARK: Lifecycle

    /// The reason for which the node is not ready; `nil` when it is.
    public var notReadyBecause: String? { node.health.notReadyBecause }

    /// Reads certificate, tokens' keys and API keys again; keeps all of them when any is invalid.
    ///
    /// The access log is reopened in any case.
    public func reload() {
        do {
            try node.accessLog?.log.reopen()
        } catch {
            node.log.write(.error, "the access log cannot be opened anew", [("reason", error.description)])
        }
        do {
            let authenticator = try NodeParts.authenticator(settings)
            let tls = try NodeParts.tls(settings, replacing: tls)
            node.reload(CallerGate.Keys(authenticator: authenticator, certificate: tls))
            if let tls { for mailbox in node.shards { _ = mailbox.send(.replaceTLS(tls)) } }
            self.tls = tls
            SecretFiles.warn(settings, node.log)
            reloadRefusal = nil
            node.figures.reloads.done.add(1)
            node.log.write(.info, "reloaded", [("certificateExpires", tls.map { "\($0.notAfter)" } ?? "none")])
        } catch {
            reloadRefusal = error.description
            node.figures.reloads.refused.add(1)
            node.log.write(.error, "reload refused, nothing changed", [("reason", error.description)])
        }
    }

    /// The watch over the loops of this node.
    public func stuckExit() -> StuckExit {
        StuckExit(
            loops: node.shards.count, exitMs: settings.limits.stuckExitMs, stalls: node.figures.stalls, log: node.log)
    }

    /// Number of ticks of the loop of each shard; loops that have not started are missing.
    public var turns: [Int] { node.figures.shards.all.map(\.loop.ticks.value) }

    /// Checks the process's resources, and whether the file of keys is another; called once a second.
    public func watch() {
        if keySetWatch?.hasChanged() == true { reload() }
        node.health.checkDescriptors(connectionsMax: settings.limits.connectionsMax)
        node.health.checkLoops(node.figures.shards.all)
        node.health.check(node.gate.certificate, days: settings.limits.certificateDays)
        let shards = node.figures.shards.all
        let topics = shards.reduce(0) { $0 + $1.topics.value }
        let handshakes = shards.reduce(0) { $0 + $1.transport.handshakes.value }
        if heapTrim.isDue(held: node.admission.figures.open + topics, handshakes: handshakes) { _ = malloc_trim(0) }
    }

    /// Turns readiness red; balancers then send no new clients.
    public func announceDrain() {
        node.health.drain()
        drainBeganMs = Clock.monotonicMs()
        node.log.write(.info, "draining", [("overMs", "\(settings.limits.drainMs)")])
    }

    /// Stops accepting and closes clients over the drain time; ``join()`` returns when all have gone.
    ///
    /// Clients that are connected, or wait to be accepted, are served to the end.
    public func drain() {
        for mailbox in node.shards { _ = mailbox.send(.drain(overMs: settings.limits.drainMs)) }
    }

    /// Ends all threads at once.
    public func stopNow() {
        connectionsCut = node.admission.figures.open
        for mailbox in node.shards { _ = mailbox.send(.stop) }
    }

    /// Whether every shard has ended.
    public var hasEnded: Bool { node.shardsRunning.load(ordering: .acquiring) == 0 }

    /// Waits until every shard has ended; a drain ends with a line in the log.
    public func join() {
        for thread in threads { thread.join() }
        threads = []
        node.accessLog?.log.close()
        guard let began = drainBeganMs else { return }
        drainBeganMs = nil
        node.log.write(
            .info, "drained", [("tookMs", "\(Clock.monotonicMs() - began)"), ("connectionsCut", "\(connectionsCut)")])
    }
}
