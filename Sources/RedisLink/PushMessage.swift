/// A message that a subscriber connection may receive under RESP2; sharded pub/sub (`s...`) is read like the plain
/// kind.
public enum PushMessage: Equatable, Sendable {
    /// A message on a subscribed channel.
    case message(channel: [UInt8], payload: [UInt8])
    /// A message on a channel that a subscribed pattern matches, such as a keyspace event.
    case patternMessage(pattern: [UInt8], channel: [UInt8], payload: [UInt8])
    /// Redis has subscribed this connection to the channel; `count` is the number of its channels.
    case subscribed(channel: [UInt8], count: Int)
    /// Redis has unsubscribed this connection; `channel` is `nil` when there was none to unsubscribe.
    case unsubscribed(channel: [UInt8]?, count: Int)
    /// As ``subscribed(channel:count:)``, of a pattern.
    case patternSubscribed(pattern: [UInt8], count: Int)
    /// As ``unsubscribed(channel:count:)``, of a pattern.
    case patternUnsubscribed(pattern: [UInt8]?, count: Int)
    /// The answer to `PING`: with a payload while subscribed, without one before.
    case pong([UInt8])
    /// An error line: the refusal of a call on this connection.
    case failure(RedisFailure)
    /// Any other reply: one to a call from before subscribing, or a fault of the server.
    case other(RESPValue)

    /// Reads a reply of a subscriber connection.
    public init(_ value: RESPValue) {
        switch value {
        case .array(let elements): self = PushMessage.read(elements) ?? .other(value)
        case .error(let line): self = .failure(RedisFailure(reply: line))
        case .status(let text) where text.elementsEqual("PONG".utf8): self = .pong([])
        case .status, .string, .integer, .null: self = .other(value)
        }
    }

    private static func read(_ elements: [RESPValue]) -> PushMessage? {
        guard let first = elements.first, case .string(let kind) = first else { return nil }
        switch (kind.count, elements.count) {
        case (7, 3) where kind.elementsEqual("message".utf8), (8, 3) where kind.elementsEqual("smessage".utf8):
            guard case .string(let channel) = elements[1], case .string(let payload) = elements[2] else { return nil }
            return .message(channel: channel, payload: payload)
        case (8, 4) where kind.elementsEqual("pmessage".utf8):
            guard case .string(let pattern) = elements[1], case .string(let channel) = elements[2],
                case .string(let payload) = elements[3]
            else { return nil }
            return .patternMessage(pattern: pattern, channel: channel, payload: payload)
        case (4, 2) where kind.elementsEqual("pong".utf8):
            guard case .string(let payload) = elements[1] else { return nil }
            return .pong(payload)
        case (9..., 3):
            return readConfirmation(kind, elements[1], elements[2])
        default:
            return nil
        }
    }

    private static func readConfirmation(_ kind: [UInt8], _ name: RESPValue, _ number: RESPValue) -> PushMessage? {
        guard case .integer(let count) = number, count >= 0 else { return nil }
        let channel: [UInt8]?
        switch name {
        case .string(let bytes): channel = bytes
        case .null: channel = nil
        case .status, .error, .integer, .array: return nil
        }
        switch String(decoding: kind, as: UTF8.self) {
        case "subscribe", "ssubscribe": return channel.map { .subscribed(channel: $0, count: count) }
        case "psubscribe": return channel.map { .patternSubscribed(pattern: $0, count: count) }
        case "unsubscribe", "sunsubscribe": return .unsubscribed(channel: channel, count: count)
        case "punsubscribe": return .patternUnsubscribed(pattern: channel, count: count)
        default: return nil
        }
    }
}
