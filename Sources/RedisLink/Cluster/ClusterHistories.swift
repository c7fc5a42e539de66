/// The masters of a cluster that a thread has seen, and the judgement of those that follow them (decisions D87).
///
/// The proof is that of ``MasterHistory``, made for each master by itself. The server that wrote the earlier history
/// must report three things: it is a replica now, it has joined the new master by a partial synchronisation, and it had
/// nothing that the new one lacks.
///
/// An admitted history belongs to one history of one server, and is used in calls to this server alone. Nothing can
/// prove a slot that moves between masters. Pure: no I/O.
struct ClusterHistories {
    /// A master as it was last seen.
    struct Seen: Equatable {
        /// The address at which it was reached.
        let address: ClusterAddress
        /// The run id of the process.
        let runID: [UInt8]
        /// The history that it wrote.
        let history: [UInt8]
        /// Older histories that this one contains completely; the newest first.
        let admitted: [[UInt8]]
    }

    /// The judgement of a master's history, as far as it is possible without the old master.
    enum Verdict: Equatable {
        /// It continues, or is the first that was seen of this node.
        case same
        /// It follows the history of a master that was seen; only that master can prove that nothing is missing.
        case follows(Seen)
        /// It differs from the node's earlier one, and follows none that was seen.
        case begins
    }

    /// The proof that the old master's facts give.
    enum Proof: Equatable {
        /// The new master has the complete history.
        case whole
        /// It can never be proven.
        case never
        /// The old master does not know of the failover yet, or has not joined the new master.
        case notYet
    }

    private var seen: [[UInt8]: Seen] = [:]
    /// The nodes of ``seen``; the one that changed longest ago is first.
    private var order: [[UInt8]] = []
    private let nodesMax: Int

    /// Begins without masters; stores at most `nodesMax` nodes, and removes first the one that changed longest ago.
    init(nodesMax: Int) {
        self.nodesMax = max(1, nodesMax)
    }

    /// Judges the facts that the server of a node reports as a master.
    func judge(_ node: [UInt8], _ facts: ServerFacts) -> Verdict {
        let before = seen[node]
        if let before, before.history == facts.history, before.runID == facts.runID { return .same }
        if let second = facts.replication.secondID,
            let old = seen.values.first(where: { $0.history == second && $0.runID != facts.runID })
        {
            return .follows(old)
        }
        return before == nil ? .same : .begins
    }

    /// Judges the facts that the old master reports after `next` has followed it.
    static func proof(of old: Seen, in next: ServerFacts, by facts: ServerFacts) -> Proof {
        guard facts.runID == old.runID else { return .never }
        if MasterHistory.isWhole(old.history, of: old.runID, in: next, old: facts) { return .whole }
        return facts.replication.id == old.history ? .notYet : .never
    }

    /// Stores a master that was judged; `proven` is the master whose history it contains completely.
    ///
    /// Returns the older histories that calls to this server may continue.
    mutating func settle(
        _ node: [UInt8], at address: ClusterAddress, _ facts: ServerFacts, after proven: Seen?
    ) -> [[UInt8]] {
        var admitted: [[UInt8]] = []
        if let proven {
            admitted = Array(([proven.history] + proven.admitted).prefix(MasterHistory.kept))
        } else if let before = seen[node], before.history == facts.history, before.runID == facts.runID {
            admitted = before.admitted
        }
        let now = Seen(address: address, runID: facts.runID, history: facts.history, admitted: admitted)
        guard seen[node] != now else { return admitted }
        seen[node] = now
        order.removeAll { $0 == node }
        order.append(node)
        if order.count > nodesMax { seen[order.removeFirst()] = nil }
        return admitted
    }
}
