public import Connections
import Core
public import Reactors

/// All of a Redis for a process with one thread, whatever its topology.
///
/// It makes the links and follows changes of the masters. Thread: the reactor's.
public final class WholeRedis {
    /// A report to the owner.
    public enum Update {
        /// A connection to a server is ready for calls.
        case connected(ServerID)
        /// A master of a cluster writes another history than before, or follows the master of another address.
        case historyChanged(ClusterAddress, before: ClusterAddress?, keepsEpochs: Bool)
        /// The watch of the servers has a result.
        case watched(PlacementUpdate)

        /// Whether calls may have other results now: after a new connection, and when a cluster has other masters.
        public var isChange: Bool {
            switch self {
            case .connected, .watched(.placed(.slots)): true
            case .historyChanged, .watched: false
            }
        }
    }

    /// The links for calls; on a cluster each call is sent to the master of its key.
    public let link: any RedisLinks

    private let setup: LinkSetup
    private let registry: ScriptRegistry
    private let observer: Observer
    private var others: [any RedisLinks] = []
    private var subscribers: [any BusSubscriber] = []
    private var watch: (any PlacementWatch)?
    private var lastFailure: RedisFailure?

    /// Begins to dial; `tell` receives every report until ``stop()``, none before this returns.
    public init(
        _ context: ConnectionContext, _ target: RedisTarget, name: String, registry: ScriptRegistry,
        tell: @escaping (Update) -> Void
    ) throws(Errno) {
        setup = LinkSetup(context, target, name: name)
        self.registry = registry
        let observer = Observer(tell)
        self.observer = observer
        watch = try setup.topology.watch(setup, SentinelStatistics()) { observer.watched($0) }
        observer.watch = watch
        link = try setup.topology.calls(setup, registry: registry, observer: observer)
        observer.watched = { [weak self] in self?.watched($0) }
    }

    private final class Observer: LinkObserver {
        /// `nil` once the owner wants no more reports.
        var tell: ((Update) -> Void)?
        var watched: (PlacementUpdate) -> Void = { _ in }
        weak var watch: (any PlacementWatch)?

        init(_ tell: @escaping (Update) -> Void) { self.tell = tell }

        func connected(_ server: ServerID, _ facts: ServerFacts) { tell?(.connected(server)) }
        func hint(_ hint: ServerHint) { watch?.hint(hint) }
        func historyChanged(_ master: ClusterAddress, before: ClusterAddress?, keepsEpochs: Bool) {
            tell?(.historyChanged(master, before: before, keepsEpochs: keepsEpochs))
        }
    }

    /// The hints of further links; their connections are not reported.
    private final class Quiet: LinkObserver {
        private let hinted: (ServerHint) -> Void

        init(_ hinted: @escaping (ServerHint) -> Void) { self.hinted = hinted }

        func connected(_ server: ServerID, _ facts: ServerFacts) {}
        func hint(_ hint: ServerHint) { hinted(hint) }
    }

    /// Makes further links of the same kind, for calls that wait in Redis; they end with the others.
    public func another(name: String) throws(Errno) -> any RedisCalls {
        let quiet = Quiet { [weak self] in self?.hint($0) }
        let made = try setup.topology.calls(
            setup(name: name), registry: registry, observer: quiet)
        others.append(made)
        if let placement { made.follow(placement) }
        return made
    }

    /// Makes links that receive channels, `inbox` among them; they follow the masters and end with the others.
    ///
    /// The owner passes their hints to ``hint(_:)``.
    public func subscribe(
        name: String, inbox: [UInt8], owner: any BusSubscriberOwner
    ) throws(Errno) -> any BusSubscriber {
        let made = try setup.topology.bus(setup(name: name), inbox: inbox, owner: owner)
        subscribers.append(made)
        if let placement { made.follow(placement) }
        return made
    }

    /// The present placement; `nil` where the address is constant.
    var placement: Placement? { watch?.placement }

    /// The same thread and address under another name.
    func setup(name: String) -> LinkSetup { LinkSetup(setup.context, setup.target, name: name) }

    /// Takes a reason to ask for the servers.
    public func hint(_ hint: ServerHint) { watch?.hint(hint) }

    /// Ends every link; calls in flight fail.
    public func stop() {
        observer.tell = nil
        watch?.stop()
        link.stop()
        for other in others { other.stop() }
        for subscriber in subscribers { subscriber.stop() }
    }

    private func watched(_ update: PlacementUpdate) {
        switch update {
        case .placed(let placement):
            lastFailure = nil
            link.follow(placement)
            for other in others { other.follow(placement) }
            for subscriber in subscribers { subscriber.follow(placement) }
        case .unreachable(let failure): lastFailure = failure
        case .damaged, .sentinels: break
        }
        observer.tell?(.watched(update))
    }

    // MARK: Servers

    /// The known masters with their slots; `nil` where one server has all keys.
    private var slots: SlotMap? {
        if case .slots(let map)? = watch?.placement { return map }
        return nil
    }

    /// The servers that the keys lie on.
    private var servers: [ServerID] { slots?.masters.map(\.id) ?? link.servers }

    /// The server that has a key; `nil` while none is known.
    private func server(of key: [UInt8]) -> ServerID? {
        guard let slots else { return link.servers.first }
        return slots[HashSlot.of(key)]?.id
    }

    /// Whether every key has a server, and each of them accepts calls.
    public var isWhole: Bool {
        (slots?.uncovered ?? []).isEmpty && servers.allSatisfy { link.facts(of: $0) != nil }
    }

    /// Identifies the processes and, on a cluster, the owners of the slots: the text differs after any change of these.
    ///
    /// Empty while ``isWhole`` is `false`.
    public var life: [UInt8] {
        guard isWhole else { return [] }
        let processes = servers.map { link.facts(of: $0)?.runID ?? [] }
        return Array(([Array("\(slots?.generation ?? 0)".utf8)] + processes).joined(separator: [0x20]))
    }

    /// The run ids of all servers; empty while ``isWhole`` is `false`.
    public var runIDs: Set<[UInt8]> {
        isWhole ? Set(servers.compactMap { link.facts(of: $0)?.runID }) : []
    }

    /// The run id of the process that has a key; `nil` while it is not known.
    public func runID(of key: [UInt8]) -> [UInt8]? { server(of: key).flatMap { link.facts(of: $0)?.runID } }

    /// The history of writes of the process that has a key; `nil` while it is not known.
    public func history(of key: [UInt8]) -> [UInt8]? { server(of: key).flatMap { link.facts(of: $0)?.history } }

    /// The reason why it is not whole, in words for an operator.
    public var trouble: String {
        if let slots, !slots.masters.isEmpty, let missing = slots.uncovered.first {
            return "the slots \(missing.lowerBound)-\(missing.upperBound) have no master"
        }
        return failure.map { "\($0.metricLabel) \($0.detail)" } ?? "no answer"
    }

    /// The failure of a server that is away; `nil` when there was none.
    public var failure: RedisFailure? {
        let away = servers.compactMap { link.link(to: $0) }.first { !$0.isReady }
        return away?.lastFailure ?? lastFailure ?? link.lastFailure
    }

    /// Makes a call on every server: all replies, or one failure.
    ///
    /// No call is sent while ``isWhole`` is `false`.
    public func callEverywhere(
        _ call: RedisCall, _ completion: @escaping (Result<[RESPValue], RedisFailure>) -> Void
    ) {
        let links = servers.compactMap { link.link(to: $0) }
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
