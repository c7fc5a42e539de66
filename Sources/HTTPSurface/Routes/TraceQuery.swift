import Core
import HTTPCodec
import Rights

/// The event that `GET /v1/why` and `GET /v1/topics/{topic}/trace` ask about.
struct TraceQuery {
    let topic: Topic
    let offset: Int
    /// `nil`: the topic's present epoch.
    let epoch: [UInt8]?
    /// The user in question; `nil` for all.
    let user: [UInt8]?

    private static let offsets = 1...(1 << 53 - 1)

    /// Reads the query of `GET /v1/why`.
    static func why(_ head: HTTPRequestHead) throws(Refusal) -> TraceQuery {
        let items = try items(head, ["user", "topic", "offset", "epoch"])
        guard let user = items["user"], Identity.isUser(user) else {
            throw Refusal(.badRequest, "'user' must be 1 to 128 of A-Z a-z 0-9 . _ ~ : -")
        }
        guard let topic = items["topic"].flatMap({ Topic($0) }) else {
            throw Refusal(.badRequest, "'topic' must be namespace:id, e.g. shop:42")
        }
        return try TraceQuery(topic, user, items)
    }

    /// Reads the query of `GET /v1/topics/{topic}/trace`.
    static func trace(_ topic: String, _ head: HTTPRequestHead) throws(Refusal) -> TraceQuery {
        guard let topic = Topic(topic) else {
            throw Refusal(.badRequest, "the topic must be namespace:id, e.g. shop:42")
        }
        return try TraceQuery(topic, nil, try items(head, ["offset", "epoch"]))
    }

    private init(_ topic: Topic, _ user: [UInt8]?, _ items: [String: [UInt8]]) throws(Refusal) {
        guard let offset = items["offset"].flatMap({ ASCII.decimal($0) }), TraceQuery.offsets.contains(offset) else {
            throw Refusal(.badRequest, "'offset' must be the offset of an event, 1 or more")
        }
        if let epoch = items["epoch"], !Position.isEpoch(epoch) {
            throw Refusal(.badRequest, "'epoch' must be the epoch of a position, 1 to 32 of A-Z a-z 0-9 _ -")
        }
        (self.topic, self.offset, self.user) = (topic, offset, user)
        epoch = items["epoch"]
    }

    private static func items(_ head: HTTPRequestHead, _ names: [String]) throws(Refusal) -> [String: [UInt8]] {
        guard let items = head.queryItems else { throw Refusal(.badRequest, "the query is malformed") }
        var found: [String: [UInt8]] = [:]
        for item in items {
            let name = String(decoding: item.name, as: UTF8.self)
            guard names.contains(name) else {
                throw Refusal(.badRequest, "unknown name in the query; it has \(names.joined(separator: ", "))")
            }
            guard found.updateValue(item.value, forKey: name) == nil else {
                throw Refusal(.badRequest, "'\(name)' is given twice")
            }
        }
        return found
    }
}
