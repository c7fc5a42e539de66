import Core
import RedisLink

/// One event of a log as a receiver gets it.
struct WebhookEvent: Sendable, Equatable {
    /// Where it stands.
    let epoch: [UInt8]
    let offset: Int
    /// Its name, and its data: JSON, once ``isReadable(_:)`` said so.
    let name: [UInt8]
    let content: [UInt8]
    /// When it was published, milliseconds since 1970; 0 where the log does not tell.
    let timeMs: Int

    /// An entry of a log; `nil` when it is none.
    init?(_ entry: RESPValue, epoch: [UInt8]) {
        guard let parts = entry.elements, parts.count == 2, let id = parts[0].bytes, let fields = parts[1].elements,
            let offset = ASCII.decimal(id.prefix { $0 != UInt8(ascii: "-") })
        else { return nil }
        var found: [[UInt8]: [UInt8]] = [:]
        for place in stride(from: 0, to: fields.count - 1, by: 2) {
            if let name = fields[place].bytes, let value = fields[place + 1].bytes { found[name] = value }
        }
        self.epoch = epoch
        self.offset = offset
        name = found[Array("e".utf8)] ?? []
        content = found[Array("d".utf8)] ?? []
        timeMs = found[Array("t".utf8)].flatMap { ASCII.decimal($0) } ?? 0
    }

    /// A hole in the log before an event.
    init(gapBefore offset: Int, epoch: [UInt8], missed: Int, timeMs: Int) {
        self.epoch = epoch
        self.offset = offset
        name = Array("gap".utf8)
        content = Array("{\"missed\":\(missed)}".utf8)
        self.timeMs = timeMs
    }

    /// Whether name and data are what they should be; both come from Redis.
    func isReadable(_ limits: JSON.Limits) -> Bool {
        guard EventName(name) != nil, let root = try? JSON(parsing: content, limits: limits).root else { return false }
        return root.kind == .object
    }

    /// The id of its webhook, the same each time it is sent; it has no dot.
    func id(_ topic: Topic) -> String {
        let place = "\(topic):" + String(decoding: epoch, as: UTF8.self) + ":\(offset)" + (isGap ? ":gap" : "")
        return String(place.flatMap { $0 == "." ? Array("%2E") : [$0] })
    }

    /// No event of a topic can have this name.
    var isGap: Bool { name == Array("gap".utf8) }

    /// The body of its webhook.
    func body(_ topic: Topic) -> [UInt8] {
        var text: [UInt8] = Array("{\"type\":".utf8)
        text.append(jsonString: name)
        let time = min(max(timeMs, 0), Timestamp.range.upperBound)
        text.append(text: ",\"timestamp\":\"\(Timestamp.text(wallMs: time))\",\"topic\":\"\(topic)\",\"epoch\":")
        text.append(jsonString: epoch)
        text.append(text: ",\"offset\":\(offset),\"data\":")
        text.append(contentsOf: content)
        text.append(text: "}")
        return text
    }
}
