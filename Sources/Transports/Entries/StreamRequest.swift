import Core
import Dialects
import HTTPCodec
import Rights

/// Parses the request for an event stream: `GET /v1/stream?topic=shop:42&topic=dj:42`.
enum StreamRequest {
    /// The cookie that may hold a token: an `EventSource` sends no header of its own.
    static let cookieName = Array("switchboard_token".utf8)
    /// Bytes of positions, more than any stream has.
    private static let positionsBytesMax = 8_192

    /// The dialect of the requested stream.
    static func dialect(_ head: HTTPRequestHead, _ limits: Limits) -> Result<any Dialect, Refusal> {
        guard head.method == .get else { return refused("a stream is asked for with GET") }
        guard let items = head.queryItems else { return refused("the query is malformed") }
        var topics: [Topic] = []
        for item in items where item.name.elementsEqual("topic".utf8) {
            guard let topic = Topic(item.value) else {
                return refused("each 'topic' must be namespace:id, e.g. topic=shop:42")
            }
            guard !topics.contains(topic) else { return refused("a topic is named twice") }
            guard topics.count < limits.subscribeBatchMax else {
                return .failure(
                    Refusal(.tooLarge, "a stream has at most \(limits.subscribeBatchMax) topics; open another"))
            }
            topics.append(topic)
        }
        guard !topics.isEmpty else { return refused("a stream needs topics, e.g. /v1/stream?topic=shop:42") }
        switch since(head, items, count: topics.count) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let positions):
            let requests = zip(topics, positions).map { SubscribeRequest(topic: $0, since: $1) }
            return .success(EventStreamDialect(requests, heartbeatMs: limits.pingMs))
        }
    }

    /// The client's positions: those of the last record, or of its first request's query.
    ///
    /// A browser repeats the query when it reconnects, so the header field is newer.
    private static func since(
        _ head: HTTPRequestHead, _ items: [(name: [UInt8], value: [UInt8])], count: Int
    ) -> Result<[Position?], Refusal> {
        let names = ["lastEventId", "since"]
        let asked = names.compactMap { name in items.first { $0.name.elementsEqual(name.utf8) }?.value }
        guard let text = head.headers.values(of: "last-event-id").first ?? asked.first, !text.isEmpty else {
            return .success(Array(repeating: nil, count: count))
        }
        guard text.count <= positionsBytesMax, let positions = EventStreamPositions(text, count: count) else {
            return .failure(
                Refusal(
                    .badRequest,
                    "Last-Event-ID, or 'since', must be EPOCH:OFFSET for each topic in order, joined by commas"))
        }
        return .success(positions.positions)
    }

    /// The credentials of the header fields, the query's `access_token`, or the cookie; more than one of them is an
    /// error.
    static func credentials(_ head: HTTPRequestHead) -> Credentials {
        let fields = Credentials(head)
        let query = head.queryItem("access_token")
        let cookie = cookieToken(head)
        let given = [fields != .none, query != .absent].count { $0 }
        if given > 1 { return .malformed(Refusal(.badRequest, "credentials are given more than once")) }
        switch query {
        case .one(let token): return .inURL(.bearer(token))
        case .repeated, .malformed: return .malformed(Refusal(.badRequest, "'access_token' must be one token"))
        case .absent: break
        }
        // A browser sends cookies by itself; the page's own credentials have precedence.
        if fields == .none, let cookie { return .bearer(cookie) }
        return fields
    }

    private static func cookieToken(_ head: HTTPRequestHead) -> [UInt8]? {
        for field in head.headers.values(of: "cookie") {
            for pair in field.split(separator: UInt8(ascii: ";")) {
                let text = pair.drop { $0 == UInt8(ascii: " ") }
                guard let equals = text.firstIndex(of: UInt8(ascii: "=")),
                    text[..<equals].elementsEqual(cookieName)
                else { continue }
                return Array(text[(equals + 1)...])
            }
        }
        return nil
    }

    private static func refused<T>(_ text: String) -> Result<T, Refusal> {
        .failure(Refusal(.badRequest, text))
    }
}
