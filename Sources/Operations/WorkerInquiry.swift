public import Core
public import Reactors
public import RedisLink

/// Counts the live workers, every two seconds.
///
/// Time is Redis's own, as in `lease.lua`, so an entry of a dead worker does not count. Thread: that of the first
/// shard.
public final class WorkerInquiry {
    private let alive: Guarded<Int?>
    private let health: Health
    private let link: any RedisCalls
    private let keys: Keys
    private let graceMs: Int
    private var nextMs = Int.min
    /// Start of the time without a live worker, monotonic milliseconds; `nil` while one lives.
    private var missingMs: Int?

    private static let everyMs = 2_000
    private static let script: StaticString = """
        local t = redis.call('TIME')
        return redis.call('ZCOUNT', KEYS[1], string.format('(%.0f', t[1] * 1000 + t[2] / 1000), '+inf')
        """

    /// The row gets a warning after `graceMs` without a live worker; `alive` is `nil` while the number is unknown.
    public init(_ alive: Guarded<Int?>, health: Health, link: any RedisCalls, keys: Keys, graceMs: Int) {
        self.alive = alive
        self.health = health
        self.link = link
        self.keys = keys
        self.graceMs = graceMs
    }

    /// Reads when it is time; called four times a second.
    public func sweep(nowMs: Int) {
        if let missingMs, nowMs - missingMs >= graceMs { health.set(.workers, .warned()) }
        guard link.isReady, nextMs <= nowMs else { return }
        nextMs = nowMs + WorkerInquiry.everyMs
        var call = RedisCall("EVAL")
        call.append(WorkerInquiry.script)
        call.append(decimal: 1)
        call.append(keys.workers)
        link.call(call) { [weak self] result in
            if case .success(let value) = result { self?.learned(value.integer, nowMs: nowMs) }
        }
    }

    /// Without an answer the last state remains valid.
    private func learned(_ workers: Int?, nowMs: Int) {
        alive.withLock { $0 = workers }
        guard let workers else { return }
        guard workers == 0 else {
            missingMs = nil
            return health.set(.workers, .fine(figures: [("workers", "\(workers)")]))
        }
        missingMs = missingMs ?? nowMs
    }
}
