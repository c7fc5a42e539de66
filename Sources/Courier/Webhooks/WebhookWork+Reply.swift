import Core
import RedisLink

extension WebhookWork {
    /// Reads a page from the reply of ``CourierScripts/stepText``; `nil` when it is malformed.
    ///
    /// `sinceMs` is the receiver's mark, and `wallMs` the time now; both are milliseconds since 1970.
    init?(_ topic: Topic, reply: [RESPValue]?, patterns: WebhookPatterns, sinceMs: Int, wallMs: Int) {
        guard let reply, reply.count == 7, let epoch = reply[1].bytes, let done = reply[2].bytes,
            let last = WebhookWork.number(reply[3]), let entries = reply[4].elements, let before = reply[5].bytes,
            let offset = WebhookWork.number(reply[6])
        else { return nil }
        self.init(
            topic, epoch: epoch, done: ASCII.decimal(done), last: last, entries: entries, patterns: patterns,
            sinceMs: sinceMs, before: before.isEmpty ? nil : WebhookPlace(epoch: before, offset: offset),
            wallMs: wallMs)
    }

    private static func number(_ value: RESPValue) -> Int? {
        value.integer ?? value.bytes.flatMap { ASCII.decimal($0) }
    }
}
