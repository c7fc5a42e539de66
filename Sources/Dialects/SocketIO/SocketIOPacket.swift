public import Core

/// One packet of Socket.IO 5 from a client: `type[attachments-][/namespace,][ackid][json]`.
public struct SocketIOPacket: Sendable {
    /// The kind of a packet; the raw values are the digits that packets begin with.
    public enum Kind: UInt8, CaseIterable, Sendable {
        /// The client enters a namespace.
        case connect = 0x30
        /// The client leaves a namespace.
        case disconnect = 0x31
        /// An event.
        case event = 0x32
        /// The answer to an event.
        case ack = 0x33
        /// A namespace refuses the client; sent by servers only.
        case connectError = 0x34
        /// An event with attachments.
        case binaryEvent = 0x35
        /// An answer with attachments.
        case binaryAck = 0x36
    }

    /// The part after the head.
    public enum Payload: Sendable {
        /// No value.
        case none
        /// A JSON value that fits the kind of packet.
        case value(JSON.Value)
        /// A value beyond the gateway's limits, though other servers would read it.
        case refused(Refusal)
    }

    /// The kind of the packet.
    public let kind: Kind
    /// The number of binary messages that follow.
    public let attachments: Int
    /// The namespace; `/` when the packet names none.
    public let namespace: [UInt8]
    /// The number by which the client recognises the answer; `nil` when it wants none.
    public let ackID: Int?
    /// The packet's value.
    public let payload: Payload

    /// The most attachments of one packet.
    public static let attachmentsMax = 10
    /// The most bytes of a namespace's name.
    public static let namespaceBytesMax = 128

    /// Reads the text after the digit of an Engine.IO message; `nil` when it is malformed, and then the connection
    /// ends.
    public init?(parsing text: ArraySlice<UInt8>, json: JSON.Limits) {
        var rest = text
        guard let digit = rest.popFirst(), let kind = Kind(rawValue: digit) else { return nil }
        self.kind = kind
        let carriesBytes = kind == .binaryEvent || kind == .binaryAck
        guard let attachments = carriesBytes ? SocketIOPacket.attachments(&rest) : 0 else { return nil }
        self.attachments = attachments
        guard let namespace = SocketIOPacket.namespace(&rest) else { return nil }
        self.namespace = namespace
        let digits = rest.prefix { ASCII.isDigit($0) }
        rest = rest.dropFirst(digits.count)
        guard digits.isEmpty || digits.count <= SocketIOPacket.ackDigitsMax else { return nil }
        // Leading zeros are read as JavaScript's Number() reads them.
        ackID = digits.isEmpty ? nil : digits.reduce(0) { $0 &* 10 &+ Int($1 &- 0x30) }
        guard let payload = SocketIOPacket.payload(rest, of: kind, attachments: attachments, json) else { return nil }
        self.payload = payload
    }

    /// The most digits of an acknowledgement number: they fit an `Int`, and JavaScript counts exactly up to sixteen.
    private static let ackDigitsMax = 18

    /// The packet with its attachments in their places, in the form that data have for bytes.
    func filled(with attachments: [[UInt8]], _ json: JSON.Limits) -> SocketIOPacket {
        guard case .value(let value) = payload else { return self }
        guard let text = SocketIOBytes.filled(value, with: attachments) else {
            let refusal = Refusal(.badRequest, "Each attachment may stand in one place.")
            return SocketIOPacket(self, payload: .refused(refusal))
        }
        do {
            return SocketIOPacket(self, payload: .value(try JSON(parsing: text, limits: json).root))
        } catch {
            let refusal = Refusal(.tooLarge, "The arguments are too large with their attachments.")
            return SocketIOPacket(self, payload: SocketIOPacket.refused(error, json) ?? .refused(refusal))
        }
    }

    private init(_ packet: SocketIOPacket, payload: Payload) {
        kind = packet.kind
        attachments = packet.attachments
        namespace = packet.namespace
        ackID = packet.ackID
        self.payload = payload
    }

    // MARK: Head

    /// Reads `2-`.
    private static func attachments(_ rest: inout ArraySlice<UInt8>) -> Int? {
        let digits = rest.prefix { ASCII.isDigit($0) }
        rest = rest.dropFirst(digits.count)
        guard rest.popFirst() == UInt8(ascii: "-"), let count = ASCII.decimal(digits), count <= attachmentsMax else {
            return nil
        }
        return count
    }

    /// Reads `/queue,`, or `/queue` at the end of the text.
    private static func namespace(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.first == UInt8(ascii: "/") else { return [UInt8(ascii: "/")] }
        let name = rest.prefix { $0 != UInt8(ascii: ",") }
        rest = rest.dropFirst(name.count + 1)
        // A refusal repeats the name, and a control byte could end the packet of the refusal.
        guard name.count <= namespaceBytesMax, name.allSatisfy({ $0 >= 0x20 }) else { return nil }
        return Array(name)
    }

    // MARK: Payload

    private static func payload(
        _ text: ArraySlice<UInt8>, of kind: Kind, attachments: Int, _ json: JSON.Limits
    ) -> Payload? {
        if text.isEmpty { return kind == .connect || kind == .disconnect ? Payload.none : nil }
        if kind == .disconnect { return nil }
        let value: JSON.Value
        do {
            value = try JSON(parsing: Array(text), limits: json).root
        } catch {
            return refused(error, json)
        }
        return fits(value, kind, attachments) ? .value(value) : nil
    }

    /// `nil` for bad JSON, which ends the connection; a refusal for JSON beyond the gateway's limits.
    private static func refused(_ problem: JSON.Problem, _ json: JSON.Limits) -> Payload? {
        switch problem {
        case .syntax, .invalidUTF8:
            nil
        case .duplicateName:
            .refused(Refusal(.badRequest, "One object names a member twice; each name may occur once."))
        case .tooDeep:
            .refused(Refusal(.tooLarge, "The arguments are nested deeper than \(json.depthMax) levels."))
        case .tooManyElements:
            .refused(Refusal(.tooLarge, "The arguments hold more than \(json.elementsMax) values."))
        }
    }

    private static func fits(_ value: JSON.Value, _ kind: Kind, _ attachments: Int) -> Bool {
        switch kind {
        case .connect:
            value.kind == .object
        case .disconnect:
            false
        case .connectError:
            value.kind == .string || value.kind == .object
        case .ack:
            value.kind == .array
        case .binaryAck:
            value.kind == .array && placeholdersFit(value, attachments)
        case .event:
            isEvent(value)
        case .binaryEvent:
            isEvent(value) && placeholdersFit(value, attachments)
        }
    }

    /// Whether it is an array whose first value is a number, or a name that applications may use.
    private static func isEvent(_ value: JSON.Value) -> Bool {
        var members = value.members
        guard value.kind == .array, let name = members.next() else { return false }
        return name.kind == .number || name.stringBytes.map { !reserved.contains($0) } ?? false
    }

    /// Whether each placeholder stands for an attachment that was announced.
    ///
    /// The depth is that of the text, which was bounded.
    private static func placeholdersFit(_ value: JSON.Value, _ attachments: Int) -> Bool {
        if value["_placeholder"]?.kind == .yes {
            return value["num"]?.int.map { (0..<attachments).contains($0) } ?? false
        }
        for member in value.members where !placeholdersFit(member, attachments) { return false }
        return true
    }

    /// Names that the client libraries reserve.
    private static let reserved = Set(
        ["connect", "connect_error", "disconnect", "disconnecting", "newListener", "removeListener"]
            .map { Array($0.utf8) })
}
