import Core
import Reactors
import RedisLink
import Rights

/// Reads changes of rights for the whole node, and tells every shard of them.
///
/// It runs on one shard and asks twice a second, so that a change counts everywhere within a second, and on a node that
/// was away as soon as it is back. Thread: that shard's.
final class RightsWatch {
    private let node: Node
    private let store: RightsStore
    private let nowMs: () -> Int
    private var poll: RightsPoll
    private var forgetMs = 0
    private let startMs: Int
    /// Sweeps in a row that found the last answer too old.
    private var lateSweeps = 0

    private static let forgetEveryMs = 60_000
    /// A process that was stopped gets so many sweeps to ask again.
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

    /// Asks when it is time.
    func sweep() {
        if nowMs() >= forgetMs {
            forgetMs = nowMs() + RightsWatch.forgetEveryMs
            node.forgetRevocations(now: node.clock.wallMs / 1_000)
        }
        let ageMs = poll.ageMs(nowMs: nowMs(), startMs: startMs)
        lateSweeps = ageMs > node.limits.rightsStaleMs ? lateSweeps + 1 : 0
        if lateSweeps > RightsWatch.lateSweepsMax { stale(ageMs) }
        guard node.clock.isSettled, poll.asks(nowMs: nowMs()) else { return }
        store.changes(after: poll.position) { [weak self] result in self?.took(result) }
    }

    private func took(_ result: Result<RightsPage, RedisFailure>) {
        let page: RightsPage
        switch result {
        case .failure(let failure): return failed(failure)
        case .success(let read): page = read
        }
        // Known to every door before the sessions are looked at, so that none slips through between.
        node.remember(page.revocations)
        var next = poll
        let outcome = next.took(page, nowMs: nowMs())
        let change = RightsChange(
            revocations: page.revocations, removals: page.removals, checksMemberships: outcome.checksMemberships)
        guard node.tellShards(change) else { return poll.failed() }
        poll = next
        node.health.set(.rights, .fine())
        if outcome.isComplete { node.readEveryRevocation() }
        sweep()
    }

    /// A refusal of Redis is told at once; an answer that is late only when it is late for long.
    private func failed(_ failure: RedisFailure) {
        poll.failed()
        switch failure.kind {
        case .timedOut, .disconnected, .inFlightFull, .busy, .loading: return
        default:
            node.health.set(
                .rights, .red(failure.metricLabel, figures: [("detail", failure.detail)]))
        }
    }

    /// With `--ready-partial` the master of the rights may be away like any other.
    private func stale(_ ageMs: Int) {
        let figures = [("ageMs", "\(ageMs)")]
        node.health.set(
            .rights,
            node.health.isPartlyReady ? .warned("stale", figures: figures) : .red("stale", figures: figures))
    }
}
