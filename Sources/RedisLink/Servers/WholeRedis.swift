import Core
public import Reactors
public import Transport

/// All of a Redis for a process with one thread: one server, a group that Sentinels watch, or every master of a
/// cluster.
///
/// It makes the links and follows changes of the masters. Thread: the reactor's.
public final class WholeRedis {
    /// The link for calls; on a cluster each call is sent to the master of its key.
    public let link: any RedisCalls
    /// The directory for links to one server; on a cluster ``RedisTarget/directory(_:)`` is used instead.
    public var directory: PrimaryDirectory { local.directory }
    /// The known masters with their slots; empty for a single server.
    public var map: SlotMap { watch?.map ?? .empty }

    private let context: ConnectionContext
    private let target: RedisTarget
    private let registry: ScriptRegistry
    private let local: LocalServers
    private let single: CallLink?
    private let onChange: () -> Void
    private var clusters: [ClusterLink] = []
    private var singles: [CallLink] = []
    private var watch: ClusterWatch?
    private var lastFailure: RedisFailure?
    private var isStopped = false

    /// Begins to dial; `onChange` runs after each new connection, and when a cluster has other masters.
    ///
    /// `nodesMax` is the most nodes that an answer about the cluster may have.
    public init(
        _ context: ConnectionContext, _ target: RedisTarget, name: String, registry: ScriptRegistry, nodesMax: Int,
        onSentinels: @escaping (SentinelWatch.News) -> Void = { _ in }, onChange: @escaping () -> Void
    ) throws(Errno) {
        self.context = context
        self.target = target
        self.registry = registry
        self.onChange = onChange
        let told = Told()
        local = try LocalServers(context, target, name: name, onNews: onSentinels)
        if target.url.isCluster {
            let made = try ClusterLink(
                context, target, name: name, registry: registry,
                news: ClusterLink.News(
                    onReady: { _, _ in told.changed() }, onStale: { told.stale($0) },
                    onBrokenScript: { _, _ in }))
            (link, single) = (made, nil)
            clusters = [made]
        } else {
            let made = try CallLink(
                context, target, local.directory, name: name, registry: registry, onReady: { _ in told.changed() })
            (link, single) = (made, made)
        }
        told.changed = { [weak self] in self?.changed() }
        told.stale = { [weak self] in self?.watch?.hint($0) }
        guard target.url.isCluster else { return }
        watch = try ClusterWatch(context, target, name: name + "-watch", nodesMax: nodesMax) { [weak self] in
            self?.watched($0)
        }
    }

    /// Lets the links be made before their callbacks exist.
    private final class Told {
        var changed: () -> Void = {}
        var stale: (ClusterAddress?) -> Void = { _ in }
    }

    /// Makes a further link of the same kind, for calls that wait in Redis; it ends with the others.
    public func another(name: String) throws(Errno) -> any RedisCalls {
        guard watch != nil else {
            let made = try CallLink(context, target, directory, name: name, registry: registry, onReady: { _ in })
            singles.append(made)
            return made
        }
        let made = try ClusterLink(
            context, target, name: name, registry: registry,
            news: ClusterLink.News(
                onReady: { _, _ in }, onStale: { [weak self] in self?.watch?.hint($0) },
                onBrokenScript: { _, _ in }))
        clusters.append(made)
        made.use(map)
        return made
    }

    /// Ends every link; calls in flight fail.
    public func stop() {
        isStopped = true
        watch?.stop()
        link.stop()
        for other in singles { other.stop() }
        for other in clusters { other.stop() }
        local.stop()
    }

    private func watched(_ news: ClusterWatch.News) {
        switch news {
        case .changed(let map):
            lastFailure = nil
            for link in clusters { link.use(map) }
            changed()
        case .unreachable(let failure): lastFailure = failure
        case .damaged: break
        }
    }

    private func changed() {
        if !isStopped { onChange() }
    }

    // MARK: Servers

    /// The links to each server by itself, ready or not.
    public var servers: [any RedisCalls] { masters }

    private var masters: [CallLink] {
        if let single { return [single] }
        return map.masters.compactMap { clusters.first?.link(to: $0.id) }
    }

    private func facts(_ master: SlotMap.Master) -> ServerFacts? { clusters.first?.facts(master.id) }

    /// Whether every slot has a master, and each of them accepts calls.
    public var isWhole: Bool {
        if let single { return single.isReady }
        return map.uncovered.isEmpty && map.masters.allSatisfy { facts($0) != nil }
    }

    /// The run ids of all servers; empty while ``isWhole`` is `false`.
    public var runIDs: Set<[UInt8]> {
        guard isWhole else { return [] }
        return Set(single.map { [$0.facts?.runID ?? []] } ?? map.masters.compactMap { facts($0)?.runID })
    }

    /// Identifies the processes and, on a cluster, the owners of the slots: the text differs after any change of these.
    ///
    /// Empty while ``isWhole`` is `false`.
    public var life: [UInt8] {
        guard isWhole else { return [] }
        if let single { return single.facts?.runID ?? [] }
        return map.masters.reduce(into: Array("\(map.generation)".utf8)) { $0 += [0x20] + (facts($1)?.runID ?? []) }
    }

    /// The run id of the process that has a key; `nil` while it is not known.
    public func runID(of key: [UInt8]) -> [UInt8]? {
        if let single { return single.facts?.runID }
        return map[HashSlot.of(key)].flatMap { facts($0)?.runID }
    }

    /// The history of writes of the process that has a key; `nil` while it is not known.
    public func history(of key: [UInt8]) -> [UInt8]? {
        if let single { return single.facts?.history }
        return map[HashSlot.of(key)].flatMap { facts($0)?.history }
    }

    /// The reason why it is not whole, in words for an operator.
    public var trouble: String {
        if watch != nil, !map.masters.isEmpty, let slots = map.uncovered.first {
            return "the slots \(slots.lowerBound)-\(slots.upperBound) have no master"
        }
        return failure.map { "\($0.metricLabel) \($0.detail)" } ?? "no answer"
    }

    /// The failure of a server that is away; `nil` when there was none.
    public var failure: RedisFailure? {
        masters.first { !$0.isReady }?.lastFailure ?? lastFailure ?? link.lastFailure
    }

    /// Makes a call on every server: all replies, or one failure.
    ///
    /// No call is sent while ``isWhole`` is `false`.
    public func callEverywhere(
        _ call: RedisCall, _ completion: @escaping (Result<[RESPValue], RedisFailure>) -> Void
    ) {
        let links = masters
        guard isWhole, !links.isEmpty else { return completion(.failure(RedisFailure(.disconnected))) }
        let gathered = Gathered(missing: links.count)
        for link in links {
            link.call(call) { result in
                gathered.missing -= 1
                switch result {
                case .success(let value): gathered.replies.append(value)
                case .failure(let failure): gathered.failure = failure
                }
                guard gathered.missing == 0 else { return }
                completion(gathered.failure.map { .failure($0) } ?? .success(gathered.replies))
            }
        }
    }

    private final class Gathered {
        var missing: Int
        var replies: [RESPValue] = []
        var failure: RedisFailure?

        init(missing: Int) { self.missing = missing }
    }
}

@available(*, unavailable)
extension WholeRedis: Sendable {}
