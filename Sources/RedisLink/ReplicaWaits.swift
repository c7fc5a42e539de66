public import Reactors
public import Transport

/// Confirms that replicas have stored a write on any master, with one ``ReplicaWait`` for each.
///
/// Thread: the reactor's.
public final class ReplicaWaits {
    /// The requirements for a confirmation.
    public struct Rules {
        /// The number of replicas that must have stored it, at least 1.
        public let replicas: Int
        /// The time that they have for it, milliseconds.
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
    /// By node id; one with an empty id for a single server.
    private var masters: [[UInt8]: Master] = [:]

    /// Makes the link to one server; on a cluster ``follow(_:)`` makes the links.
    public init(
        _ context: ConnectionContext, _ target: RedisTarget, _ directory: PrimaryDirectory, name: String, rules: Rules
    ) throws(Errno) {
        self.context = context
        self.target = target
        self.name = name
        self.rules = rules
        guard !target.url.isCluster else { return }
        masters[[]] = Master(address: nil, wait: try wait(target, directory))
    }

    private func wait(_ target: RedisTarget, _ directory: PrimaryDirectory) throws(Errno) -> ReplicaWait {
        try ReplicaWait(context, target, directory, name: name, replicas: rules.replicas, waitMs: rules.waitMs)
    }

    /// Takes a cluster's map: every master gets a link, and other nodes lose theirs.
    public func follow(_ map: SlotMap) {
        for (id, master) in masters where map.master(id)?.address != master.address {
            masters[id] = nil
            master.wait.stop()
        }
        for master in map.masters where masters[master.id] == nil {
            guard let made = try? wait(target.at(master.address), target.directory(master.address)) else { continue }
            masters[master.id] = Master(address: master.address, wait: made)
        }
    }

    /// The number of links.
    public var linkCount: Int { masters.count }

    /// Waits until the replicas have stored everything that was written to a process before now.
    ///
    /// The completion runs once, later or at once. It refuses for a process without a link, since nothing confirms its
    /// writes.
    public func confirm(_ runID: [UInt8]?, _ completion: @escaping ReplicaWait.Completion) {
        guard let runID, let master = masters.values.first(where: { $0.wait.runID == runID }) else {
            return completion(ReplicaWait.missing(rules.replicas))
        }
        master.wait.confirm(runID, completion)
    }

    /// Asks the server of a link again for its history; `node` is empty for a single server.
    public func recheck(_ node: [UInt8] = []) { masters[node]?.wait.recheck() }

    /// Ends every link; waiting calls are refused, since nothing confirms their writes.
    public func stop() {
        for master in masters.values { master.wait.stop() }
        masters = [:]
    }
}

@available(*, unavailable)
extension ReplicaWaits: Sendable {}
