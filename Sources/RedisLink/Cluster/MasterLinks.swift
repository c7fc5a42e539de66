import Core
internal import Reactors
internal import Transport

/// The links of a thread to the masters of a cluster, one to each, for calls.
///
/// A link takes calls while the server at its end is the node that the map speaks of, and the history that this server writes
/// has been judged: a master that was a replica in between keeps its process and its connections, and writes another
/// history. So the server is asked again whenever the map says something else of the node. Thread: the reactor's.
final class MasterLinks {
    private struct Node {
        let link: CallLink
        let address: ClusterAddress
        /// The config epoch of its claim in the map; `nil` while it has no slot.
        var epoch: Int?
        /// Whether the server has said that it is this node; before, nothing is sent to it.
        var isVerified = false
        /// Whether it is known which positions go on there; before, no call of others is sent to it.
        var isJudged = false
        /// Looks that were begun, the one that must be answered before a verdict counts, and the last that was answered.
        var looks = 0
        var neededLook = 0
        var answeredLook = 0
        /// Whether ``ClusterLink/News/onReady`` was told of this connection.
        var isTold = false
        /// Whether a look is under way that a redirection has led to.
        var isRedirecting = false
        var proof: HistoryProof?
        var idleSinceMs: Int?
    }

    private let context: ConnectionContext
    private let target: RedisTarget
    private let name: String
    private let registry: ScriptRegistry
    private let news: ClusterLink.News
    /// Runs when a master takes calls from now on.
    var onUsable: () -> Void = {}
    private var nodes: [[UInt8]: Node] = [:]
    private var histories: ClusterHistories
    /// The last failure of any link, for logs.
    private(set) var lastFailure: RedisFailure?

    init(
        _ context: ConnectionContext, _ target: RedisTarget, name: String, registry: ScriptRegistry,
        news: ClusterLink.News
    ) {
        self.context = context
        self.target = target
        self.name = name
        self.registry = registry
        self.news = news
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

    // MARK: Which there are

    /// The masters that there are links to.
    var ids: [[UInt8]] { Array(nodes.keys) }

    /// The link to a node, whether it is ready or not; `nil` when there is none.
    func link(to id: [UInt8]) -> CallLink? { nodes[id]?.link }

    /// What the server of a node said of itself; `nil` until it is verified.
    func facts(_ id: [UInt8]) -> ServerFacts? { nodes[id].flatMap { $0.isVerified ? $0.link.facts : nil } }

    /// The link to a node, as long as calls may be sent there.
    func usable(_ id: [UInt8]) -> CallLink? { nodes[id].flatMap { MasterLinks.isUsable($0) ? $0.link : nil } }

    /// The same by the node's address.
    func usable(at address: ClusterAddress) -> CallLink? {
        nodes.values.first { $0.address == address && MasterLinks.isUsable($0) }?.link
    }

    /// Whether there is a master that takes calls.
    var hasUsable: Bool { nodes.values.contains(where: MasterLinks.isUsable) }

    /// Where a link leads to; `nil` when it is none of these.
    func address(of link: CallLink) -> ClusterAddress? { nodes.values.first { $0.link === link }?.address }

    private static func isUsable(_ node: Node) -> Bool { node.isVerified && node.isJudged && node.link.isReady }

    // MARK: The map

    /// Takes a map: masters that are new get a link, and those of which it says something else are asked again.
    func use(_ map: SlotMap) {
        let nowMs = context.reactor.nowMs
        for master in map.masters { dial(master) }
        for (id, node) in nodes {
            let epoch = map.master(id)?.epoch
            nodes[id]?.idleSinceMs = epoch == nil ? node.idleSinceMs ?? nowMs : nil
            guard epoch != node.epoch else { continue }
            nodes[id]?.epoch = epoch
            nodes[id]?.isJudged = false
            // Otherwise the greeting of the next connection tells.
            guard node.isVerified, node.link.isReady else { continue }
            nodes[id]?.neededLook = node.looks + 1
            look(at: id)
        }
    }

    private func dial(_ master: SlotMap.Master) {
        if let node = nodes[master.id] {
            // One that was a replica meanwhile pauses between two dials that were refused.
            let isPausing = node.epoch == nil && !node.link.isReady
            guard node.address != master.address || isPausing else { return }
            end(node)
            nodes[master.id] = nil
        }
        let id = master.id
        let ready = Ready()
        guard
            let link = try? CallLink(
                context, target.at(master.address), target.board(master.address),
                name: "\(name)-\(master.address.port)", registry: registry, statistics: news.statistics(master),
                onBrokenScript: news.onBrokenScript,
                onReady: { _ in ready.action() })
        else { return }
        nodes[id] = Node(link: link, address: master.address, epoch: master.epoch)
        ready.action = { [unowned self] in connected(id) }
    }

    /// Lets a link be made before what it tells.
    private final class Ready {
        var action: () -> Void = {}
    }

    /// Ends links that have had no slot for long; when to look next, `nil` when there is none of these.
    func closeIdle(nowMs: Int) -> Int? {
        for (id, node) in nodes {
            guard let sinceMs = node.idleSinceMs, nowMs - sinceMs >= ClusterSubscriber.idleMs else { continue }
            end(node)
            nodes[id] = nil
        }
        return nodes.values.compactMap(\.idleSinceMs).min().map { $0 + ClusterSubscriber.idleMs }
    }

    // MARK: Who it is

    /// A connection is used only when the node at its end is the one that the map speaks of.
    private func connected(_ id: [UInt8]) {
        guard let node = nodes[id] else { return }
        let link = node.link
        nodes[id]?.answeredLook = node.looks
        nodes[id]?.isVerified = false
        nodes[id]?.isJudged = false
        nodes[id]?.isTold = false
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
                news.onStale(nil)
                link.reconnect(RedisFailure(.protocolViolation, detail: "another node answers at this address"))
            case .failure(let failure):
                lastFailure = failure
                // The answer stands behind those to all scripts that were loaded.
                if failure.kind == .timedOut { verify(id, link) }
            }
        }
    }

    // MARK: Which history it writes

    /// Asks a server again which history it writes; with each delivery probe.
    func recheck(_ id: [UInt8]) {
        guard let node = nodes[id], node.isVerified, node.link.isReady else { return }
        look(at: id)
    }

    /// A server has sent a call elsewhere: it may be no master any more.
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
            // Without an answer it would take no call for ever.
            guard !node.isJudged, number >= node.neededLook else { return }
            if failure.kind == .timedOut { look(at: id) } else { link.reconnect(failure) }
        }
    }

    private func judge(_ id: [UInt8]) {
        guard let node = nodes[id], node.isVerified, node.proof == nil, let facts = node.link.facts else { return }
        switch histories.judge(id, facts) {
        case .same: settle(id, facts, after: nil)
        case .begins:
            news.onHistory(node.address, nil, false)
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
        news.onHistory(node.address, old.address, isWhole)
        settle(id, facts, after: isWhole ? old : nil)
    }

    private func settle(_ id: [UInt8], _ facts: ServerFacts, after proven: ClusterHistories.Seen?) {
        guard let node = nodes[id] else { return }
        let admitted = histories.settle(id, at: node.address, facts, after: proven)
        node.link.admit(admitted, in: facts.history)
        // What was learnt before the map said something else is no verdict.
        guard node.answeredLook >= node.neededLook else { return }
        nodes[id]?.isJudged = true
        if !node.isTold {
            nodes[id]?.isTold = true
            news.onReady(id, facts)
        }
        if !node.isJudged || !node.isTold { onUsable() }
    }
}

@available(*, unavailable)
extension MasterLinks: Sendable {}
