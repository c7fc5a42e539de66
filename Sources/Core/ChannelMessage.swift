/// A message read from a topic's Redis channel.
///
/// Two forms: `P<epoch> <offset> <event> <id or ->[ <origin>]\n<data JSON>`, written by the scripts, and the JSON
/// object `{"event":...,"data":{...}}` of any backend's plain `PUBLISH`. Redis bytes are untrusted: every field is
/// checked, and the data of both forms is validated before it may reach a client. Reserved event names are refused in
/// both.
public struct ChannelMessage: Equatable, Sendable {
    /// The event's position in its log; `nil` for a plain publish, which is delivered at most once.
    public let position: Position?
    /// The event's name.
    public let event: EventName
    /// The publisher's idempotency key, when it gave one.
    public let id: MessageID?
    /// The event's data: one JSON object, as it goes to clients.
    public let data: [UInt8]
    /// The session that published the event and does not want to receive it.
    ///
    /// `nil` for most events, and for those read from the log.
    public let origin: EchoExclusion?

    /// Makes a message of checked parts.
    public init(
        position: Position?, event: EventName, id: MessageID?, data: [UInt8], origin: EchoExclusion? = nil
    ) {
        self.position = position
        self.event = event
        self.id = id
        self.data = data
        self.origin = origin
    }

    /// The limits of a channel message.
    public struct Bounds: Sendable {
        /// The JSON limits of data that a script wrote.
        public let positioned: JSON.Limits
        /// Bytes of these data.
        public let positionedBytesMax: Int
        /// The JSON limits of a backend's plain message.
        public let plain: JSON.Limits
        /// Bytes of that message's data.
        public let plainBytesMax: Int

        /// Makes bounds.
        public init(positioned: JSON.Limits, positionedBytesMax: Int, plain: JSON.Limits, plainBytesMax: Int) {
            self.positioned = positioned
            self.positionedBytesMax = positionedBytesMax
            self.plain = plain
            self.plainBytesMax = plainBytesMax
        }

        /// Takes the figures out of the node's limits.
        ///
        /// Scripts may combine many accepted texts, so their limits are wider; a plain publish is bounded like any
        /// other.
        public init(_ limits: Limits) {
            self.init(
                positioned: limits.answers, positionedBytesMax: limits.answerBytesMax, plain: limits.json,
                plainBytesMax: limits.publishBytesMax)
        }
    }

    /// Reads a channel message; `nil` when it is neither form or breaks a bound.
    public static func parse(_ bytes: [UInt8], _ bounds: Bounds) -> ChannelMessage? {
        switch bytes.first {
        case UInt8(ascii: "P"): positioned(bytes, bounds)
        case UInt8(ascii: "{"): plain(bytes, bounds)
        default: nil
        }
    }

    /// The most bytes before the data of a positioned message.
    private static let headBytesMax =
        1 + Position.epochBytesMax + 1 + 19 + 1 + EventName.bytesMax + 1 + MessageID.bytesMax + 1
        + EchoExclusion.bytesMax + 1
    /// The most bytes of a plain message beside its data: name, other members and spaces.
    private static let envelopeBytesMax = 4_096

    private static func positioned(_ bytes: [UInt8], _ bounds: Bounds) -> ChannelMessage? {
        // The head is bounded, so a message without a newline is refused without scanning it whole.
        guard bytes.count <= bounds.positionedBytesMax + headBytesMax,
            let newline = bytes.prefix(headBytesMax).firstIndex(of: UInt8(ascii: "\n"))
        else { return nil }
        var rest: ArraySlice<UInt8>? = bytes[1..<newline]
        guard let epoch = field(&rest), let offset = field(&rest).flatMap({ ASCII.decimal($0) }), offset >= 1,
            let position = Position(epoch: epoch, offset: offset), let event = field(&rest).flatMap({ EventName($0) }),
            !event.isReserved, let key = field(&rest)
        else { return nil }
        var id: MessageID?
        if key.count != 1 || key.first != UInt8(ascii: "-") {
            guard let given = MessageID(key) else { return nil }
            id = given
        }
        var origin: EchoExclusion?
        if let excluded = rest {
            guard let given = EchoExclusion(excluded) else { return nil }
            origin = given
        }
        let data = Array(bytes[(newline + 1)...])
        guard let json = try? JSON(parsing: data, limits: bounds.positioned), json.root.kind == .object else {
            return nil
        }
        return ChannelMessage(position: position, event: event, id: id, data: data, origin: origin)
    }

    /// Takes the field up to the next space; `rest` is `nil` after the last one.
    private static func field(_ rest: inout ArraySlice<UInt8>?) -> ArraySlice<UInt8>? {
        guard let text = rest else { return nil }
        guard let space = text.firstIndex(of: UInt8(ascii: " ")) else {
            rest = nil
            return text
        }
        rest = text[(space + 1)...]
        return text[..<space]
    }

    private static func plain(_ bytes: [UInt8], _ bounds: Bounds) -> ChannelMessage? {
        guard bytes.count <= bounds.plainBytesMax + envelopeBytesMax,
            let json = try? JSON(parsing: bytes, limits: bounds.plain), let name = json.root["event"]?.stringBytes,
            let event = EventName(name), !event.isReserved
        else { return nil }
        guard let data = json.root["data"] else {
            return ChannelMessage(position: nil, event: event, id: nil, data: Array("{}".utf8))
        }
        guard data.kind == .object, data.raw.count <= bounds.plainBytesMax else { return nil }
        return ChannelMessage(position: nil, event: event, id: nil, data: Array(data.raw))
    }
}
