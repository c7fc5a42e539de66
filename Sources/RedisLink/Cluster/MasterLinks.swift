internal import Connections
import Core
internal import Reactors

/// The links of a thread to the masters of a cluster, one to each, for calls.
///
/// A link accepts calls while two things hold: its server is the node that the map names, and the server's history has
/// been judged. A master that was a replica in between keeps its process and its connections, but writes another
/// history. So the server is asked again whenever the map changes for the node.
///
/// Thread: the reactor's.
final class MasterLinks {
    private struct Node {
        let link: CallLink
        let address: ClusterAddress
        /// The config epoch of its claim in the map; `nil` while it has no slot.
        var epoch: Int?
        /// Whether the server has confirmed that it is this node; before that, no call is sent to it.
        var isVerified = false
        /// Whether the positions that continue there are known; before that, no call of other users is sent to it.
        var isJudged = false
        /// The number of looks begun, the one whose answer a verdict needs, and the last one answered.
        var looks = 0
        var neededLook = 0
        var answeredLook = 0
        /// Whether ``LinkObserver/connected(_:_:)`` was called for this connection.
        var isReported = false
        /// Whether a look that a redirection caused is under way.
        var isRedirecting = false
        var proof: HistoryProof?
        var idleSinceMs: Int?
    }

    private let context: ConnectionContext
    private let target: RedisTarget
    private let name: String
    private let registry: ScriptRegistry
    private let observer: any LinkObserver
    /// Runs when a master accepts calls from now on.
    var onUsable: () -> Void = {}
    private var nodes: [[UInt8]: Node] = [:]
    private var histories: ClusterHistories
    /// The last failure of any link, for logs.
    private(set) var lastFailure: RedisFailure?

    init(
        _ context: ConnectionContext, _ target: RedisTarget, name: String, registry: ScriptRegistry,
        observer: any LinkObserver
    ) {
        self.context = context
        self.target = target
        self.name = name
        self.registry = registry
        self.observer = observer
        histories = ClusterHistories(nodesMax: target.clusterNodesMax)
    }

    /// Ends every link.
    func stop() {
        for node in nodes.values { end(node) }
        nodes.removeAll()
    }

    private func end(_ node: Node) {
        node.proof?.cancel()
        node.link.stop()
    }

    // MARK: Links

    /// The node ids of the masters with a link.
    var ids: [[UInt8]] { Array(nodes.keys) }

    /// The link to a node, whether it is ready or not; `nil` when there is none.
    func link(to id: [UInt8]) -> CallLink? { nodes[id]?.link }

    /// The facts that the server of a node reported; `nil` until it is verified.
    func facts(_ id: [UInt8]) -> ServerFacts? { nodes[id].flatMap { $0.isVerified ? $0.link.facts : nil } }

    /// The link to a node while calls may be sent there; `nil` otherwise.
    func usable(_ id: [UInt8]) -> CallLink? { nodes[id].flatMap { MasterLinks.isUsable($0) ? $0.link : nil } }

    /// The same by the node's address.
    func usable(at address: ClusterAddress) -> CallLink? {
        nodes.values.first { $0.address == address && MasterLinks.isUsable($0) }?.link
    }

    /// Whether at least one master accepts calls, or did until it was asked again because the map has changed.
    ///
    /// A map may change for all masters at once. Calls wait for the answers then, as they do for one master's.
    var hasUsable: Bool { nodes.values.contains { $0.isVerified && $0.isReported && $0.link.isReady } }

    /// The address of a link; `nil` when it is none of these links.
    func address(of link: CallLink) -> ClusterAddress? { nodes.values.first { $0.link === link }?.address }

    private static func isUsable(_ node: Node) -> Bool { node.isVerified && node.isJudged && node.link.isReady }

    // MARK: The map

    /// Takes a map: new masters get a link, and nodes with another epoch are asked again.
    func use(_ map: SlotMap) {
        let nowMs = context.reactor.nowMs
        for master in map.masters { dial(master) }
        for (id, node) in nodes {
            let epoch = map.master(id)?.epoch
            nodes[id]?.idleSinceMs = epoch == nil ? node.idleSinceMs ?? nowMs : nil
            guard epoch != node.epoch else { continue }
            nodes[id]?.epoch = epoch
            nodes[id]?.isJudged = false
            // Otherwise the greeting of the next connection answers it.
            guard node.isVerified, node.link.isReady else { continue }
            nodes[id]?.neededLook = node.looks + 1
            look(at: id)
        }
    }

    private func dial(_ master: SlotMap.Master) {
        if let node = nodes[master.id] {
            // A node that was a replica in between pauses after refused dials.
            let isPausing = node.epoch == nil && !node.link.isReady
            guard node.address != master.address || isPausing else { return }
            end(node)
            nodes[master.id] = nil
        }
        let id = master.id
        let ready = Ready()
        guard
            let link = try? CallLink(
                context, target.at(master.address), target.directory(master.address),
                name: "\(name)-\(master.address.port)", registry: registry,
                statistics: observer.statistics(of: master.address),
                onBrokenScript: { [observer] in observer.scriptIsBroken($0, $1) },
                onReady: { _ in ready.action() })
        else { return }
        nodes[id] = Node(link: link, address: master.address, epoch: master.epoch)
        ready.action = { [unowned self] in connected(id) }
    }

    /// Lets a link be made before its callback exists.
    private final class Ready {
        var action: () -> Void = {}
    }

    /// Ends links whose node has had no slot for long; returns the time of the next check, `nil` when none is needed.
    func closeIdle(nowMs: Int) -> Int? {
        for (id, node) in nodes {
            guard let sinceMs = node.idleSinceMs, nowMs - sinceMs >= ClusterSubscriber.idleMs else { continue }
            end(node)
            nodes[id] = nil
        }
        return nodes.values.compactMap(\.idleSinceMs).min().map { $0 + ClusterSubscriber.idleMs }
    }

    // MARK: Identity

    /// Verifies the node of a new connection: it is used only when it is the one that the map names.
    private func connected(_ id: [UInt8]) {
        guard let node = nodes[id] else { return }
        let link = node.link
        nodes[id]?.answeredLook = node.looks
        nodes[id]?.isVerified = false
        nodes[id]?.isJudged = false
        nodes[id]?.isReported = false
        verify(id, link)
    }

    private func verify(_ id: [UInt8], _ link: CallLink) {
        link.call(RedisCall("CLUSTER", Array("MYID".utf8))) { [weak self] result in
            guard let self, nodes[id]?.link === link else { return }
            switch result {
            case .success(let value) where value.bytes == id:
                nodes[id]?.isVerified = true
                judge(id)
            case .success:
                observer.hint(.suspicion)
                link.reconnect(RedisFailure(.protocolViolation, detail: "another node answers at this address"))
            case .failure(let failure):
                lastFailure = failure
                // The answer stands behind the replies to all loaded scripts, so it may be late.
                if failure.kind == .timedOut { verify(id, link) }
            }
        }
    }

    // MARK: Histories

    /// Asks a server again for its history; called with each delivery probe.
    func recheck(_ id: [UInt8]) {
        guard let node = nodes[id], node.isVerified, node.link.isReady else { return }
        look(at: id)
    }

    /// Looks at a server that has redirected a call: it may no longer be a master.
    func redirected(by link: CallLink) {
        guard let (id, node) = nodes.first(where: { $0.value.link === link }), node.isVerified, !node.isRedirecting
        else { return }
        nodes[id]?.isRedirecting = true
        look(at: id)
    }

    private func look(at id: [UInt8]) {
        guard let link = nodes[id]?.link else { return }
        nodes[id]?.looks += 1
        let number = nodes[id]?.looks ?? 0
        link.recheck { [weak self] failure in
            guard let self, let node = nodes[id], node.link === link else { return }
            nodes[id]?.isRedirecting = false
            guard let failure else {
                nodes[id]?.answeredLook = max(number, node.answeredLook)
                return judge(id)
            }
            // Without an answer the node would never accept a call.
            guard !node.isJudged, number >= node.neededLook else { return }
            if failure.kind == .timedOut { look(at: id) } else { link.reconnect(failure) }
        }
    }

    private func judge(_ id: [UInt8]) {
        guard let node = nodes[id], node.isVerified, node.proof == nil, let facts = node.link.facts else { return }
        switch histories.judge(id, facts) {
        case .same: settle(id, facts, after: nil)
        case .begins:
            observer.historyChanged(node.address, before: nil, keepsEpochs: false)
            settle(id, facts, after: nil)
        case .follows(let old):
            nodes[id]?.isJudged = false
            let link = node.link
            nodes[id]?.proof = try? HistoryProof(context, target, name: name + "-look", of: old, in: facts) {
                [weak self] in self?.proven(id, link, facts, by: old, $0)
            }
            if nodes[id]?.proof == nil { proven(id, link, facts, by: old, false) }
        }
    }

    private func proven(
        _ id: [UInt8], _ link: CallLink, _ facts: ServerFacts, by old: ClusterHistories.Seen, _ isWhole: Bool
    ) {
        guard let node = nodes[id], node.link === link else { return }
        nodes[id]?.proof = nil
        // Another connection is judged when it is verified.
        guard node.isVerified, let now = link.facts else { return }
        guard now.history == facts.history, now.runID == facts.runID else { return judge(id) }
        observer.historyChanged(node.address, before: old.address, keepsEpochs: isWhole)
        settle(id, facts, after: isWhole ? old : nil)
    }

    private func settle(_ id: [UInt8], _ facts: ServerFacts, after proven: ClusterHistories.Seen?) {
        guard let node = nodes[id] else { return }
        let admitted = histories.settle(id, at: node.address, facts, after: proven)
        node.link.admit(admitted, in: facts.history)
        // An answer from before the map changed is no verdict.
        guard node.answeredLook >= node.neededLook else { return }
        nodes[id]?.isJudged = true
        if !node.isReported {
            nodes[id]?.isReported = true
            observer.connected(id, facts)
        }
        if !node.isJudged || !node.isReported { onUsable() }
    }
}

@available(*, unavailable)
extension MasterLinks: Sendable {}
