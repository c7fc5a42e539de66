import Core
import RedisLink

/// Since when a receiver is told of events, as ``CourierScripts/markText`` replies it.
struct WebhookMark {
    /// Milliseconds since 1970, by Redis's clock.
    let sinceMs: Int
    /// Whether Redis had no mark before.
    let isNew: Bool

    /// Reads a reply; `nil` when it is none.
    init?(_ result: Result<RESPValue, RedisFailure>) {
        guard case .success(let value) = result, let reply = value.elements, reply.count == 2,
            let sinceMs = reply[0].bytes.flatMap({ ASCII.decimal($0) })
        else { return nil }
        (self.sinceMs, isNew) = (sinceMs, reply[1].integer == 1)
    }
}
