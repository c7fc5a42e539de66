import Core
import RedisLink

/// The time from which a receiver gets events, in the reply of ``CourierScripts/markText``.
struct WebhookMark {
    /// Milliseconds since 1970, by Redis's clock.
    let sinceMs: Int
    /// Whether Redis had no mark before.
    let isNew: Bool

    /// Reads a reply; `nil` when it is malformed.
    init?(_ result: Result<RESPValue, RedisFailure>) {
        guard case .success(let value) = result, let reply = value.elements, reply.count == 2,
            let sinceMs = reply[0].bytes.flatMap({ ASCII.decimal($0) })
        else { return nil }
        (self.sinceMs, isNew) = (sinceMs, reply[1].integer == 1)
    }
}
