import Core
import RedisLink

/// The figures of receivers in Redis, which gateways show to operators.
extension WebhookDispatcher {
    /// Milliseconds between two writes.
    static let figuresEveryMs = 5_000

    /// Writes the figures of each receiver; the next write replaces one that was lost.
    func tellFigures(_ parts: CourierParts, _ link: any RedisCalls, nowMs: Int) {
        for lane in lanes {
            let figures = WebhookFigures(
                busy: lane.busyCount, waiting: lane.waitingCount, isAway: lane.isOpen,
                oldestMs: lane.failingSinceMs.map { max(0, nowMs - $0) } ?? 0, failedMs: lane.lastFailure?.wallMs ?? 0,
                reason: lane.lastFailure?.reason ?? "")
            link.call(figures.call(parts.keys, receiver: lane.name, courier: parts.name)) { _ in }
        }
    }
}
