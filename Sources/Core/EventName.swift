/// The name of an event: `[A-Za-z0-9._:/-]{1,64}`, such as `queue:update`.
public struct EventName: Hashable, Sendable, CustomStringConvertible {
    /// The name, ASCII; safe to embed in JSON unescaped.
    public let bytes: [UInt8]

    /// The most bytes a name may have.
    public static let bytesMax = 64

    /// Reads a name; `nil` when it is out of the grammar.
    public init?(_ bytes: some Collection<UInt8>) {
        guard EventName.isValid(bytes) else { return nil }
        self.bytes = Array(bytes)
    }

    /// Reads a name from text; the same grammar.
    public init?(_ text: String) {
        self.init(Array(text.utf8))
    }

    private init(known text: StaticString) {
        var bytes: [UInt8] = []
        bytes.append(text: text)
        self.bytes = bytes
    }

    /// The gateway's own event for presence.
    public static let presence = EventName(known: "presence")

    /// The name as text.
    public var description: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether gateways themselves use the name for subscribers, such as `gap`, or clients' libraries use it.
    ///
    /// No publisher may use these: a subscriber could not distinguish its event from the gateway's own, or from a step
    /// in the life of its connection. The JavaScript client of Socket.IO even ends a connection that brings one of
    /// them.
    public var isReserved: Bool { isOwnWord || EventName.wordsOfLibraries.contains(bytes) }

    /// Whether gateways themselves use the name for subscribers.
    public var isOwnWord: Bool { EventName.ownWords.contains(bytes) }

    /// The gateway's own event names in any dialect.
    private static let ownWords = Set(
        [
            "authenticated", "subscribed", "unsubscribed", "ack", "pong", "gap", "draining", "token:expiring",
            "warning", "error", "presence", "refused", "closed",
        ].map { Array($0.utf8) })

    /// The event names with which `EventSource` and the clients of Socket.IO report on their connection.
    private static let wordsOfLibraries = Set(
        ["open", "connect", "connect_error", "disconnect", "disconnecting", "newListener", "removeListener"]
            .map { Array($0.utf8) })

    /// Whether the bytes are `[A-Za-z0-9._:/-]{1,64}`.
    public static func isValid(_ bytes: some Collection<UInt8>) -> Bool {
        let count = bytes.count
        guard count >= 1 && count <= bytesMax else { return false }
        return bytes.allSatisfy {
            ASCII.isLetter($0) || ASCII.isDigit($0) || ($0 >= 0x2d && $0 <= 0x2f) || $0 == UInt8(ascii: ":")
                || $0 == UInt8(ascii: "_")
        }
    }
}
