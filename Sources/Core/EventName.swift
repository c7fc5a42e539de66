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

    /// The name as text.
    public var description: String { String(decoding: bytes, as: UTF8.self) }

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
