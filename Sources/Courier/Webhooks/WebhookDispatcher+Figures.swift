import Configuration
import Core
import RedisLink
import Service

/// The figures of receivers in Redis, which gateways show to operators.
extension WebhookDispatcher {
    /// Milliseconds between two writes.
    static let figuresEveryMs = 5_000

    /// Writes the figures of each receiver; the next write replaces one that was lost.
    func writeFigures(_ parts: CourierParts, _ link: any RedisCalls, nowMs: Int) {
        let figures = lanes.map { lane in
            let figures = WebhookFigures(
                busy: lane.busyCount, waiting: lane.waitingCount, isAway: lane.isOpen,
                oldestMs: lane.failingSinceMs.map { max(0, nowMs - $0) } ?? 0, failedMs: lane.lastFailure?.wallMs ?? 0,
                reason: lane.lastFailure?.reason ?? "")
            return (lane.name, figures)
        }
        link.call(WebhookFigures.call(parts.keys, courier: parts.name, figures)) { [log = parts.log] result in
            guard case .success(let value) = result, value.integer == 1 else { return }
            log.write(
                .warn, "figures of webhooks were dropped: too many receivers and couriers",
                [("max", "\(WebhookFigures.countMax)")])
        }
    }

    /// Removes the figures of this courier, which ends.
    func removeFigures(_ parts: CourierParts, _ link: any RedisCalls) {
        guard link.isReady, !lanes.isEmpty else { return }
        link.call(WebhookFigures.removal(parts.keys, courier: parts.name, of: lanes.map(\.name))) { _ in }
    }
}
