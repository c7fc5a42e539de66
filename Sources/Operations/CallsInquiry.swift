public import Core
public import Reactors
public import RedisLink

/// Reads the number of pending calls of outside services, and whether their couriers live, every two seconds.
///
/// Workers and couriers show the same for themselves; a gateway shows it also when none of them lives. Thread: that of
/// the first shard.
public final class CallsInquiry {
    private let known: Guarded<[String: CallsFigures]>
    private let link: any RedisCalls
    private let keys: Keys
    private let services: [String]
    private var nextMs = Int.min

    private static let everyMs = 2_000
    private static let script: StaticString = """
        local entry, now = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1], redis.call('TIME')
        local came = entry and string.match(entry[1], '^%d+')
        local age = came and math.max(1, now[1] * 1000 + math.floor(now[2] / 1000) - came) or 0
        return {redis.call('XLEN', KEYS[1]), age, redis.call('XLEN', KEYS[2]), redis.call('EXISTS', KEYS[3])}
        """

    /// Stores the figures of `services` in `known`; a service is missing while its figures are unknown.
    public init(_ known: Guarded<[String: CallsFigures]>, link: any RedisCalls, keys: Keys, services: [String]) {
        (self.known, self.link, self.keys, self.services) = (known, link, keys, services)
    }

    /// Reads when it is time; called four times a second.
    public func sweep(nowMs: Int) {
        guard link.isReady, nextMs <= nowMs else { return }
        nextMs = nowMs + CallsInquiry.everyMs
        for service in services {
            var call = RedisCall("EVAL")
            call.append(CallsInquiry.script)
            call.append(decimal: 3)
            for key in [keys.calls(of: service), keys.callsDead(of: service), keys.courier(of: service)] {
                call.append(key)
            }
            link.call(call) { [known] result in
                guard case .success(let value) = result else { return }
                known.withLock { $0[service] = CallsFigures(value) }
            }
        }
    }
}
