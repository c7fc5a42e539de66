import Core
import RedisLink

/// A position in a topic.
struct WebhookPlace: Sendable, Equatable, CustomStringConvertible {
    /// The epoch, and the offset of an event in it; 0 is the position before the first event.
    let epoch: [UInt8]
    let offset: Int

    /// Both, for the log.
    var description: String { String(decoding: epoch, as: UTF8.self) + " \(offset)" }
}

/// One event of a log in the form for a receiver.
struct WebhookEvent: Sendable, Equatable {
    /// The position of the event.
    let epoch: [UInt8]
    let offset: Int
    /// The event's name, and its data: JSON, once ``isReadable(_:)`` is true.
    let name: [UInt8]
    let content: [UInt8]
    /// The time of its publish, milliseconds since 1970; 0 where the log has none.
    let timeMs: Int
    /// The position after which events are missing; `nil` unless the event is a gap.
    let after: WebhookPlace?

    /// Reads an entry of a log; `nil` when it is malformed.
    init?(_ entry: RESPValue, epoch: [UInt8]) {
        guard let parts = entry.elements, parts.count == 2, let id = parts[0].bytes, let fields = parts[1].elements,
            let offset = ASCII.decimal(id.prefix { $0 != UInt8(ascii: "-") })
        else { return nil }
        var found: [[UInt8]: [UInt8]] = [:]
        for index in stride(from: 0, to: fields.count - 1, by: 2) {
            if let name = fields[index].bytes, let value = fields[index + 1].bytes { found[name] = value }
        }
        self.epoch = epoch
        self.offset = offset
        name = found[Array("e".utf8)] ?? []
        content = found[Array("d".utf8)] ?? []
        timeMs = found[Array("t".utf8)].flatMap { ASCII.decimal($0) } ?? 0
        after = nil
    }

    /// A gap between a position and the event at `offset`, which may still be unpublished.
    ///
    /// The number of missed events is known only when both have the same epoch.
    init(gapBefore offset: Int, epoch: [UInt8], after: WebhookPlace, isCounted: Bool, timeMs: Int) {
        self.epoch = epoch
        self.offset = offset
        self.after = after
        name = Array("gap".utf8)
        let missed = isCounted ? String(offset - after.offset - 1) : "null"
        content = Array("{\"missed\":\(missed)}".utf8)
        self.timeMs = timeMs
    }

    /// Position of the event; for a gap, the position of the event after it.
    var place: WebhookPlace { WebhookPlace(epoch: epoch, offset: offset) }

    /// Whether name and data are valid; both come from Redis.
    func isReadable(_ limits: JSON.Limits) -> Bool {
        guard EventName(name) != nil, let root = try? JSON(parsing: content, limits: limits).root else { return false }
        return root.kind == .object
    }

    /// The id of its webhook, the same each time it is sent; it has no dot.
    func id(_ topic: Topic) -> String {
        let place = "\(topic):" + String(decoding: epoch, as: UTF8.self) + ":\(offset)" + (isGap ? ":gap" : "")
        return String(place.flatMap { $0 == "." ? Array("%2E") : [$0] })
    }

    /// Whether it is a gap: no event of a topic can have this name.
    var isGap: Bool { name == Array("gap".utf8) }

    /// The body of its webhook.
    func body(_ topic: Topic) -> [UInt8] {
        var text = [UInt8(ascii: "{")]
        text.append(member: "type", string: name)
        let time = min(max(timeMs, 0), Timestamp.range.upperBound)
        text.append(member: "timestamp", string: Timestamp.text(wallMs: time))
        text.append(member: "topic", string: topic.bytes)
        text.append(member: "epoch", string: epoch)
        text.append(member: "offset", number: offset)
        if let after {
            text.append(text: ",\"after\":{")
            text.append(member: "epoch", string: after.epoch)
            text.append(member: "offset", number: after.offset)
            text.append(UInt8(ascii: "}"))
        }
        text.append(member: "data", json: content)
        text.append(UInt8(ascii: "}"))
        return text
    }
}
