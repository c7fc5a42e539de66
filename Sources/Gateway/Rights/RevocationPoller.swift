import Core
import Reactors
import RedisLink
import Rights

/// Reads changes of rights for the whole node, and notifies every shard.
///
/// It runs on one shard and reads twice a second. A change therefore takes effect everywhere within a second, and on a
/// node that was cut off as soon as it is connected again. Thread: that shard's.
final class RevocationPoller {
    private let node: Node
    private let store: RightsStore
    private let nowMs: () -> Int
    private var poll: RightsPoll
    private var forgetMs = 0
    private let startMs: Int
    /// Number of consecutive sweeps that found the last answer too old.
    private var lateSweeps = 0

    private static let forgetEveryMs = 60_000
    /// A process that was stopped has so many sweeps to read again.
    private static let lateSweepsMax = 3

    init(node: Node, store: RightsStore, nowMs: @escaping () -> Int) {
        self.node = node
        self.store = store
        self.nowMs = nowMs
        startMs = nowMs()
        poll = RightsPoll(intervalMs: node.limits.rightsPollMs)
    }

    /// The link to Redis is new.
    func linkIsNew() {
        poll.linkIsNew()
        sweep()
    }

    /// Reads when it is time.
    func sweep() {
        if nowMs() >= forgetMs {
            forgetMs = nowMs() + RevocationPoller.forgetEveryMs
            node.gate.forgetRevocations(now: node.clock.wallMs / 1_000)
        }
        let ageMs = poll.ageMs(nowMs: nowMs(), startMs: startMs)
        lateSweeps = ageMs > node.limits.rightsStaleMs ? lateSweeps + 1 : 0
        if lateSweeps > RevocationPoller.lateSweepsMax { stale(ageMs) }
        guard node.clock.isSettled, poll.asks(nowMs: nowMs()) else { return }
        store.changes(after: poll.position) { [weak self] result in self?.took(result) }
    }

    private func took(_ result: Result<RightsPage, RedisFailure>) {
        let page: RightsPage
        switch result {
        case .failure(let failure): return failed(failure)
        case .success(let read): page = read
        }
        // Known to every listener before the sessions are checked, so that none slips through between.
        node.gate.remember(page.revocations)
        var next = poll
        let outcome = next.took(page, nowMs: nowMs())
        let change = RightsChange(
            revocations: page.revocations, removals: page.removals, checksMemberships: outcome.checksMemberships)
        guard node.broadcast(change) else { return poll.failed() }
        poll = next
        node.health.set(.rights, .fine())
        if outcome.isComplete { node.gate.readEveryRevocation() }
        sweep()
    }

    /// Reports a refusal of Redis at once, but a late answer only after several late sweeps.
    private func failed(_ failure: RedisFailure) {
        poll.failed()
        switch failure.kind {
        case .timedOut, .disconnected, .inFlightFull, .busy, .loading: return
        default:
            node.health.set(
                .rights, .red(failure.metricLabel, figures: [("detail", failure.detail)]))
        }
    }

    /// With `--ready-partial`, the master of the rights may be unavailable like any other.
    private func stale(_ ageMs: Int) {
        let figures = [("ageMs", "\(ageMs)")]
        node.health.set(
            .rights,
            node.health.isPartlyReady ? .warned("stale", figures: figures) : .red("stale", figures: figures))
    }
}
