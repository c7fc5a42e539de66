import Core
import Operations
import Reactors
import RedisLink
import Rights
import Service

/// Reads changes of rights for the whole node, and notifies every shard.
///
/// It runs on one shard and reads twice a second. A change therefore takes effect everywhere within a second, and on a
/// node that was cut off as soon as it is connected again. Thread: that shard's.
final class RevocationPoller {
    private let context: RightsContext
    private var poll: RightsPoll
    private var forgetMs = 0
    private let startMs: Int
    /// Number of consecutive sweeps that found the last answer too old.
    private var lateSweeps = 0

    private static let forgetEveryMs = 60_000
    /// A process that was stopped has so many sweeps to read again.
    private static let lateSweepsMax = 3

    init(_ context: RightsContext) {
        self.context = context
        startMs = context.clock.nowMs
        poll = RightsPoll(intervalMs: context.limits.rightsPollMs)
    }

    /// The link to Redis is new.
    func linkIsNew() {
        poll.linkIsNew()
        sweep()
    }

    /// Reads when it is time.
    func sweep() {
        if context.clock.nowMs >= forgetMs {
            forgetMs = context.clock.nowMs + RevocationPoller.forgetEveryMs
            context.gate.forgetRevocations(now: context.clock.wallSeconds)
        }
        let ageMs = poll.ageMs(nowMs: context.clock.nowMs, startMs: startMs)
        lateSweeps = ageMs > context.limits.rightsStaleMs ? lateSweeps + 1 : 0
        if lateSweeps > RevocationPoller.lateSweepsMax { stale(ageMs) }
        guard context.isClockSettled(), poll.asks(nowMs: context.clock.nowMs) else { return }
        context.store.changes(after: poll.position) { [weak self] result in self?.took(result) }
    }

    private func took(_ result: Result<RightsPage, RedisFailure>) {
        let page: RightsPage
        switch result {
        case .failure(let failure): return failed(failure)
        case .success(let read): page = read
        }
        // Known to every listener before the sessions are checked, so that none slips through between.
        context.gate.remember(page.revocations)
        var next = poll
        let outcome = next.took(page, nowMs: context.clock.nowMs)
        let change = RightsChange(
            revocations: page.revocations, removals: page.removals, checksMemberships: outcome.checksMemberships)
        guard context.broadcast(change) else { return poll.failed() }
        poll = next
        context.health.set(.rights, .fine())
        if outcome.isComplete { context.gate.readEveryRevocation() }
        sweep()
    }

    /// Reports a refusal of Redis at once, but a late answer only after several late sweeps.
    private func failed(_ failure: RedisFailure) {
        poll.failed()
        switch failure.kind {
        case .timedOut, .disconnected, .inFlightFull, .busy, .loading: return
        default:
            context.health.set(
                .rights, .red(failure.metricLabel, figures: [("detail", failure.detail)]))
        }
    }

    /// With `--ready-partial`, the master of the rights may be unavailable like any other.
    private func stale(_ ageMs: Int) {
        let figures = [("ageMs", "\(ageMs)")]
        context.health.set(
            .rights,
            context.health.isPartlyReady ? .warned("stale", figures: figures) : .red("stale", figures: figures))
    }
}
