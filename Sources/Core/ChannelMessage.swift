/// A message read from a topic's Redis channel (design section 6).
///
/// Two forms: `P<epoch> <offset> <event> <id or ->\n<data JSON>`, written by the scripts, and the JSON object
/// `{"event":...,"data":{...}}` of any backend's plain `PUBLISH`. Redis bytes are untrusted: every field is checked,
/// and the data of both forms is validated before it may reach a client. Reserved event names are refused in both.
public struct ChannelMessage: Equatable, Sendable {
    /// Where the event stands in its log; `nil` for a plain publish, which is delivered at most once.
    public let position: Position?
    /// The event's name.
    public let event: EventName
    /// The publisher's idempotency key, when it gave one.
    public let id: MessageID?
    /// The event's data: one JSON object, as it goes to clients.
    public let data: [UInt8]

    /// Makes a message of checked parts.
    public init(position: Position?, event: EventName, id: MessageID?, data: [UInt8]) {
        self.position = position
        self.event = event
        self.id = id
        self.data = data
    }

    /// Reads a channel message; `nil` when it is neither form or breaks a limit.
    public static func parse(_ bytes: [UInt8], limits: JSON.Limits) -> ChannelMessage? {
        switch bytes.first {
        case UInt8(ascii: "P"): positioned(bytes, limits: limits)
        case UInt8(ascii: "{"): plain(bytes, limits: limits)
        default: nil
        }
    }

    private static func positioned(_ bytes: [UInt8], limits: JSON.Limits) -> ChannelMessage? {
        // The head is bounded, so a message without a newline is refused without scanning it whole.
        let headMax = 1 + Position.epochBytesMax + 1 + 19 + 1 + EventName.bytesMax + 1 + MessageID.bytesMax + 1
        guard let newline = bytes.prefix(headMax).firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let fields = bytes[1..<newline].split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard fields.count == 4, let offset = ASCII.decimal(fields[1]), offset >= 1,
            let position = Position(epoch: fields[0], offset: offset), let event = EventName(fields[2]),
            !event.isReserved
        else { return nil }
        var id: MessageID?
        if !fields[3].elementsEqual([UInt8(ascii: "-")]) {
            guard let given = MessageID(fields[3]) else { return nil }
            id = given
        }
        let data = Array(bytes[(newline + 1)...])
        guard let json = try? JSON(parsing: data, limits: limits), json.root.kind == .object else { return nil }
        return ChannelMessage(position: position, event: event, id: id, data: data)
    }

    private static func plain(_ bytes: [UInt8], limits: JSON.Limits) -> ChannelMessage? {
        guard let json = try? JSON(parsing: bytes, limits: limits),
            let name = json.root["event"]?.stringBytes, let event = EventName(name), !event.isReserved
        else { return nil }
        guard let data = json.root["data"] else {
            return ChannelMessage(position: nil, event: event, id: nil, data: Array("{}".utf8))
        }
        guard data.kind == .object else { return nil }
        return ChannelMessage(position: nil, event: event, id: nil, data: Array(data.raw))
    }
}
