/// The masters of a cluster that a thread has seen, and what may be believed of those that follow them (decisions D87).
///
/// The proof is that of ``MasterHistory``, made for each master by itself: the server that wrote the history before says
/// that it is a replica now, has joined the new master by a partial synchronisation, and had nothing that the new one
/// lacks. What is admitted belongs to one history of one server, and goes with calls to this server alone. A slot that moves
/// between masters is proven by nothing. Pure: no I/O.
struct ClusterHistories {
    /// A master as it was seen last.
    struct Seen: Equatable {
        /// Where it was reached.
        let address: ClusterAddress
        /// The process.
        let runID: [UInt8]
        /// The history that it wrote.
        let history: [UInt8]
        /// Older histories that this one has the whole of; the newest first.
        let admitted: [[UInt8]]
    }

    /// What a master's history is, as far as it can be told without the old master.
    enum Verdict: Equatable {
        /// It goes on, or is the first that was seen of this node.
        case same
        /// It follows that of a master that was seen, which alone can prove that nothing is missing.
        case follows(Seen)
        /// It is another than the node had, and follows none that was seen.
        case begins
    }

    /// What the old master's word is worth.
    enum Proof: Equatable {
        /// The new master has the whole of it.
        case whole
        /// It cannot be proven any more.
        case never
        /// The old master has not heard of the failover yet, or has not joined the new master.
        case notYet
    }

    private var seen: [[UInt8]: Seen] = [:]
    /// The nodes of ``seen``; the one that was settled longest ago first.
    private var order: [[UInt8]] = []
    private let nodesMax: Int

    /// Knows nothing yet; remembers at most `nodesMax` nodes, and forgets first what changed longest ago.
    init(nodesMax: Int) {
        self.nodesMax = max(1, nodesMax)
    }

    /// Judges what the server of a node says of itself as a master.
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

    /// Judges what the old master says of itself, after `next` has followed it.
    static func proof(of old: Seen, in next: ServerFacts, by facts: ServerFacts) -> Proof {
        guard facts.runID == old.runID else { return .never }
        if MasterHistory.isWhole(old.history, of: old.runID, in: next, old: facts) { return .whole }
        return facts.replication.id == old.history ? .notYet : .never
    }

    /// Notes a master that was judged; `proven` is the one whose history it has the whole of.
    ///
    /// Returns the histories that calls to this server may go on with.
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
