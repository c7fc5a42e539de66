internal import Connections
internal import Core
internal import Reactors

/// Asks the old master whether its successor has everything that it wrote.
///
/// The old master learns of a failover a moment after the others. So it is asked again until it has joined the new one,
/// until it can no longer prove anything, or until `clusterProofMs` have passed. Thread: the reactor's.
final class HistoryProof {
    private let context: ConnectionContext
    private let target: RedisTarget
    private let name: String
    private let old: ClusterHistories.Seen
    private let next: ServerFacts
    private let endMs: Int
    private var look: ServerLook?
    private var timer: ReactorTimer?
    private var completion: ((Bool) -> Void)?

    /// The pause between two questions, milliseconds.
    private static let pauseMs = 50

    /// Begins with the next tick; `completion` runs once with whether it is proven.
    init(
        _ context: ConnectionContext, _ target: RedisTarget, name: String, of old: ClusterHistories.Seen,
        in next: ServerFacts, completion: @escaping (Bool) -> Void
    ) throws(Errno) {
        self.context = context
        var target = target.at(old.address)
        target.role = nil
        target.layout = nil
        self.target = target
        self.name = name
        self.old = old
        self.next = next
        self.completion = completion
        endMs = context.reactor.nowMs + target.clusterProofMs
        timer = try ReactorTimer(context.reactor) { [weak self] in self?.ask() }
        timer?.set(atMs: context.reactor.nowMs)
    }

    /// Ends without an answer.
    func cancel() {
        completion = nil
        close()
    }

    private func ask() {
        var target = target
        target.connectMs = min(target.connectMs, endMs - context.reactor.nowMs)
        guard target.connectMs > 0,
            let look = try? ServerLook(context, target, name: name, completion: { [weak self] in self?.answered($0) })
        else { return end(false) }
        self.look = look
    }

    private func answered(_ result: Result<ServerFacts, RedisFailure>) {
        look = nil
        // A server that cannot be asked has died or does not respond.
        guard case .success(let facts) = result else { return end(false) }
        switch ClusterHistories.proof(of: old, in: next, by: facts) {
        case .whole: end(true)
        case .never: end(false)
        case .notYet: timer?.set(atMs: context.reactor.nowMs + HistoryProof.pauseMs)
        }
    }

    private func end(_ isProven: Bool) {
        guard let completion else { return }
        self.completion = nil
        close()
        completion(isProven)
    }

    private func close() {
        look?.cancel()
        look = nil
        timer?.invalidate()
        timer = nil
    }
}
