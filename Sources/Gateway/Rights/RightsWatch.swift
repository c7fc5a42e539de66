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

    private static let forgetEveryMs = 60_000

    init(node: Node, store: RightsStore, nowMs: @escaping () -> Int) {
        self.node = node
        self.store = store
        self.nowMs = nowMs
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
            node.forgetRevocations(now: Clock.wallMs() / 1_000)
        }
        guard poll.asks(nowMs: nowMs()) else { return }
        store.changes(after: poll.position) { [weak self] result in self?.took(result) }
    }

    private func took(_ result: Result<RightsPage, RedisFailure>) {
        guard case .success(let page) = result else { return poll.failed() }
        // Known to every door before the sessions are looked at, so that none slips through between.
        node.remember(page.revocations)
        var next = poll
        let outcome = next.took(page, nowMs: nowMs())
        let change = RightsChange(
            revocations: page.revocations, removals: page.removals, checksMemberships: outcome.checksMemberships)
        guard node.tellShards(change) else { return poll.failed() }
        poll = next
        if outcome.isComplete { node.readEveryRevocation() }
        sweep()
    }
}
