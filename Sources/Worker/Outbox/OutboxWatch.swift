import Configuration
import Core
import RedisLink
import Service

/// Measures the outbox periodically, and logs when its entries wait for too long.
///
/// The worker that relays the outbox measures, and stores the figures in Redis for the gateways. Thread: the worker's.
final class OutboxWatch {
    /// The figures; `nil` before the first answer, and while another worker relays.
    private(set) var figures: OutboxFigures?
    /// Entries given up; `nil` before the first answer.
    private(set) var dead: Int?
    private let parts: WorkerParts
    private var nextMs = Int.min
    private var isLate = false
    private var sum = OutboxSum()

    private static let everyMs = 2_000
    /// Milliseconds for which figures in Redis are valid.
    private static let lifeMs = 10_000

    init(_ parts: WorkerParts) {
        self.parts = parts
    }

    /// Measures the streams of these slots when it is time; `nil`: another worker relays them.
    func work(_ link: any RedisCalls, slots: Set<Int>?, nowMs: Int) {
        guard link.isReady, nextMs <= nowMs else { return }
        nextMs = nowMs + OutboxWatch.everyMs
        link.call(RedisCall("XLEN", parts.keys.outboxDead)) { [weak self] result in
            if case .success(let value) = result { self?.dead = value.integer }
        }
        guard let slots else {
            (figures, isLate, sum) = (nil, false, OutboxSum())
            return
        }
        var left = slots.count
        guard left > 0 else { return told(sum.sum(of: slots, nowMs: nowMs), link) }
        for slot in slots {
            link.run(OutboxFigures.call(parts.outboxFigures, parts.keys, slot: slot), lane: nil) { [weak self] result in
                guard let self else { return }
                if case .success(let value) = result, let some = OutboxFigures(value) {
                    sum.take(some, of: slot, nowMs: nowMs)
                }
                left -= 1
                if left == 0 { told(sum.sum(of: slots, nowMs: nowMs), link) }
            }
        }
    }

    /// The time of the next measurement.
    var dueMs: Int { nextMs }

    private func told(_ now: OutboxFigures, _ link: any RedisCalls) {
        figures = now
        link.call(
            RedisCall(
                "SET", parts.keys.outboxFigures, now.text, Array("PX".utf8), Array("\(OutboxWatch.lifeMs)".utf8))
        ) { _ in }
        let wasLate = isLate
        isLate = now.oldestMs >= parts.limits.outboxLateMs
        guard isLate != wasLate else { return }
        parts.log.write(
            isLate ? .warn : .info,
            isLate ? "entries of the outbox wait for too long" : "entries of the outbox no longer wait for long",
            [("entries", "\(now.entries)"), ("oldestSeconds", "\(now.oldestMs / 1_000)")])
    }
}
