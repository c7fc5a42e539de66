import Core
import Push
import RedisLink

/// Reads the facts in Redis about one item that waits for a user's devices.
///
/// Values of other writers that cannot be read count as absent. Thread: the link's.
final class PushReader {
    private let link: any RedisCalls
    private let keys: Keys

    /// Reads by this link.
    init(_ link: any RedisCalls, _ keys: Keys) {
        self.link = link
        self.keys = keys
    }

    /// The facts about an item of a user; `nil` when Redis did not answer.
    func facts(of item: PushItem, user: [UInt8], _ completion: @escaping (PushFacts?) -> Void) {
        guard let home = Topic(namespace: "user".utf8, id: user) else { return completion(nil) }
        let key = { [keys] (facet: String) in keys.domain(home, facet: facet, member: nil) }
        var calls = [
            RedisCall("GET", key("online")), RedisCall("GET", key("awake")), RedisCall("HGETALL", key("devices")),
            RedisCall("GET", key("push_rules")), RedisCall("SCARD", key("unread")),
            RedisCall("HVALS", key("chat_unread")),
            RedisCall("HGET", key("push_tries"), item.name),
        ]
        switch item.source {
        case .notification:
            calls.append(RedisCall("SISMEMBER", key("unread"), item.id))
            calls.append(RedisCall("XRANGE", key("inbox"), item.id, item.id))
        case .conversation:
            calls.append(RedisCall("HGET", key("chat_unread"), item.id))
            calls.append(RedisCall("HGET", key("chats"), item.id))
        }
        ask(calls) { [weak self] replies in
            guard let self, let replies else { return completion(nil) }
            var facts = PushReader.facts(replies, item, user)
            guard let sender = facts.content?.sender else { return completion(facts) }
            // The item may have been written before the user muted or blocked the sender.
            ask(["mutes", "blocks", "blockers"].map { RedisCall("SISMEMBER", key($0), sender) }) { replies in
                guard let replies else { return completion(nil) }
                facts.isUnwanted = replies.contains { $0.integer == 1 }
                completion(facts)
            }
        }
    }

    /// Makes calls together; `nil` when one of them fails.
    private func ask(_ calls: [RedisCall], _ completion: @escaping ([RESPValue]?) -> Void) {
        let replies = Replies(calls.count)
        for (index, call) in calls.enumerated() {
            link.call(call) { result in
                guard let all = replies.take(index, result) else { return }
                completion(replies.hasFailed ? nil : all)
            }
        }
    }

    /// Gathers the replies of calls that were made together.
    private final class Replies {
        private(set) var hasFailed = false
        private var values: [RESPValue]
        private var missing: Int

        init(_ count: Int) {
            values = Array(repeating: .null, count: count)
            missing = count
        }

        /// Takes a reply; returns all replies with the last one.
        func take(_ index: Int, _ result: Result<RESPValue, RedisFailure>) -> [RESPValue]? {
            if case .success(let value) = result { values[index] = value } else { hasFailed = true }
            missing -= 1
            return missing == 0 ? values : nil
        }
    }

    private static func facts(_ replies: [RESPValue], _ item: PushItem, _ user: [UInt8]) -> PushFacts {
        let seen = replies[0...1].compactMap { $0.bytes.flatMap { ASCII.decimal($0) } }.max()
        let stored = replies[2].elements ?? []
        let devices = stride(from: 0, to: stored.count - 1, by: 2)
            .compactMap { index -> PushDevice? in
                guard let id = stored[index].bytes, let text = stored[index + 1].bytes else { return nil }
                return PushDevice(id: id, stored: text)
            }
            .sorted { $0.id.lexicographicallyPrecedes($1.id) }
        let counts = (replies[5].elements ?? []).compactMap { $0.bytes.flatMap { ASCII.decimal($0) } }
        let messages = counts.reduce(0) { $0 + min($1, 10_000) }
        var facts = PushFacts(
            content: nil, isUnread: false, seenMs: seen,
            badge: min(max(replies[4].integer ?? 0, 0), 100_000) + messages,
            devices: devices, rules: PushRules(stored: replies[3].bytes), past: PushPast(stored: replies[6].bytes))
        switch item.source {
        case .notification:
            facts.isUnread = replies[7].integer == 1
            let fields = replies[8].elements?.first?.elements.flatMap { $0.count == 2 ? $0[1].elements : nil }
            facts.content = fields.flatMap { PushContent(notification: item.id, fields: $0.compactMap(\.bytes)) }
        case .conversation:
            facts.isUnread = (replies[7].bytes.flatMap { ASCII.decimal($0) } ?? 0) > 0
            facts.content = replies[8].bytes.flatMap { PushContent(conversation: item.id, stored: $0, user: user) }
        }
        return facts
    }
}

@available(*, unavailable)
extension PushReader: Sendable {}
