/// The masters that a process has seen, and the judgement of the next one (decisions D79).
///
/// A position continues after a failover only when every event ever sent under the old history is proven to be in the
/// new one. The proof needs the old master itself: the same process, now a replica that has joined the new master by a
/// partial synchronisation. Then it can add nothing more, and nothing that it added is missing.
///
/// In every other case the new history admits no older one. Pure: no I/O.
struct MasterHistory {
    /// A master that was accepted.
    struct Accepted: Equatable {
        var address: SentinelGroup.Address
        /// The number of the failover that made it a master, as the Sentinels report it.
        var epoch: Int
        /// The run id of the process, and the history that it writes.
        var runID: [UInt8]
        var history: [UInt8]
        /// Older histories that this one contains completely.
        var admitted: [[UInt8]] = []
    }

    /// The judgement of a candidate.
    enum Verdict: Equatable {
        /// It is the master. The flag is whether its epochs continue; `nil` when it is the same as before.
        case accepted(isProven: Bool?)
        /// It must not be used.
        case refused(RedisFailure)
    }

    /// The present master; `nil` before the first.
    private(set) var current: Accepted?
    /// The addresses and histories of masters that were left; none is accepted again before it has been a replica.
    private var left: [(address: SentinelGroup.Address, history: [UInt8])] = []

    /// The most admitted histories, and the most stored addresses of masters that were left.
    static let kept = 8

    /// Whether the old master must be asked before ``take(_:at:epoch:old:)``: it may prove that nothing is lost.
    func needsOld(for next: ServerFacts) -> Bool {
        guard let current, next.runID != current.runID else { return false }
        return next.replication.secondID == current.history
    }

    /// Judges a server that the Sentinels named and that reports itself as a master.
    ///
    /// `old` are the facts of the server that was the master before; `nil` when it did not answer.
    mutating func take(
        _ next: ServerFacts, at address: SentinelGroup.Address, epoch: Int, old: ServerFacts?
    ) -> Verdict {
        let history = next.history
        guard let current else {
            self.current = Accepted(address: address, epoch: epoch, runID: next.runID, history: history)
            return .accepted(isProven: nil)
        }
        if epoch < current.epoch && address != current.address {
            return .refused(RedisFailure(.noMaster, detail: "the Sentinels name a master of an earlier failover"))
        }
        if left.contains(where: { $0.address == address && $0.history == history }) {
            return .refused(RedisFailure(.noMaster, detail: "the master was left and has not been a replica since"))
        }
        var accepted = Accepted(address: address, epoch: epoch, runID: next.runID, history: history)
        guard history != current.history || address != current.address else {
            accepted.admitted = current.admitted
            self.current = accepted
            return .accepted(isProven: nil)
        }
        let isProven = MasterHistory.isWhole(current.history, of: current.runID, in: next, old: old)
        if isProven { accepted.admitted = Array(([current.history] + current.admitted).prefix(MasterHistory.kept)) }
        if address != current.address {
            left.removeAll { $0.address == current.address || $0.address == address }
            left.append((current.address, current.history))
            if left.count > MasterHistory.kept { left.removeFirst() }
        }
        self.current = accepted
        return .accepted(isProven: isProven)
    }

    /// Whether `next` has everything that the process ever sent under a history, by the facts of both servers.
    static func isWhole(
        _ history: [UInt8], of process: [UInt8], in next: ServerFacts, old: ServerFacts?
    ) -> Bool {
        guard let old, old.runID == process, old.role == .replica, old.replication.isReadOnly,
            next.role == .master, next.runID != old.runID, next.replication.secondID == history,
            old.replication.id == next.replication.id, old.replication.secondID == history,
            let end = next.replication.secondOffset, let joined = old.replication.secondOffset, joined <= end
        else { return false }
        return true
    }
}
