public import Reactors
public import Transport

/// Says when replicas have what was written, wherever it was written: one ``ReplicaWait`` for each master.
///
/// Thread: the reactor's.
public final class ReplicaWaits {
    /// How replicas are waited for.
    public struct Rules {
        /// Replicas that must have it, at least 1.
        public let replicas: Int
        /// Milliseconds that they have for it.
        public let waitMs: Int

        /// Makes rules.
        public init(replicas: Int, waitMs: Int) {
            self.replicas = replicas
            self.waitMs = waitMs
        }
    }

    private struct Master {
        let address: ClusterAddress?
        let wait: ReplicaWait
    }

    private let context: ConnectionContext
    private let target: RedisTarget
    private let name: String
    private let rules: Rules
    /// By node id; one without a name for one server.
    private var masters: [[UInt8]: Master] = [:]

    /// Makes the link to one server; on a cluster ``follow(_:)`` makes the links.
    public init(
        _ context: ConnectionContext, _ target: RedisTarget, _ board: ServerBoard, name: String, rules: Rules
    ) throws(Errno) {
        self.context = context
        self.target = target
        self.name = name
        self.rules = rules
        guard !target.url.isCluster else { return }
        masters[[]] = Master(address: nil, wait: try wait(target, board))
    }

    private func wait(_ target: RedisTarget, _ board: ServerBoard) throws(Errno) -> ReplicaWait {
        try ReplicaWait(context, target, board, name: name, replicas: rules.replicas, waitMs: rules.waitMs)
    }

    /// Takes a cluster's map: every master has a link, and nobody else.
    public func follow(_ map: SlotMap) {
        for (id, master) in masters where map.master(id)?.address != master.address {
            masters[id] = nil
            master.wait.stop()
        }
        for master in map.masters where masters[master.id] == nil {
            guard let made = try? wait(target.at(master.address), target.board(master.address)) else { continue }
            masters[master.id] = Master(address: master.address, wait: made)
        }
    }

    /// Links that there are.
    public var linkCount: Int { masters.count }

    /// Waits until the replicas have what was written to a process before now.
    ///
    /// The completion runs once, later or at once. A process that no link leads to has no replica that is known.
    public func confirm(_ runID: [UInt8]?, _ completion: @escaping ReplicaWait.Completion) {
        guard let runID, let master = masters.values.first(where: { $0.wait.runID == runID }) else {
            return completion(ReplicaWait.missing(rules.replicas))
        }
        master.wait.confirm(runID, completion)
    }

    /// Looks again which history is written where the link to a master leads; `node` is empty for one server.
    public func recheck(_ node: [UInt8] = []) { masters[node]?.wait.recheck() }

    /// Ends every link; whoever waits is told that it is not known.
    public func stop() {
        for master in masters.values { master.wait.stop() }
        masters = [:]
    }
}

@available(*, unavailable)
extension ReplicaWaits: Sendable {}
