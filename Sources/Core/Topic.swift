/// A topic: `namespace:id`, such as `shop:42`; the unit of subscription, history and rights.
///
/// Stored and compared as bytes. Swift's `String` compares by canonical equivalence, so two different Redis channels
/// could be one dictionary key; ASCII bytes cannot be confused.
public struct Topic: Hashable, Sendable, CustomStringConvertible {
    /// The whole topic, ASCII.
    public let bytes: [UInt8]
    /// The number of ``bytes`` in the namespace, 1...32; the byte after them is the colon.
    private let namespaceCount: UInt8

    /// The most bytes a namespace may have.
    public static let namespaceBytesMax = 32
    /// The most bytes an id may have.
    public static let idBytesMax = 200

    /// Reads a topic; `nil` unless it is exactly `[a-z][a-z0-9-]{0,31}:[A-Za-z0-9._~:-]{1,200}`.
    public init?(_ bytes: some Collection<UInt8>) {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let namespace = bytes[..<colon]
        let id = bytes[bytes.index(after: colon)...]
        guard Topic.isNamespace(namespace), Topic.isID(id) else { return nil }
        self.bytes = Array(bytes)
        self.namespaceCount = UInt8(truncatingIfNeeded: namespace.count)
    }

    /// Reads a topic from text; the same grammar.
    public init?(_ text: String) {
        self.init(Array(text.utf8))
    }

    /// Makes a topic of its two parts; `nil` when either is out of its grammar.
    public init?(namespace: some Collection<UInt8>, id: some Collection<UInt8>) {
        guard Topic.isNamespace(namespace), Topic.isID(id) else { return nil }
        self.bytes = Array(namespace) + [UInt8(ascii: ":")] + Array(id)
        self.namespaceCount = UInt8(truncatingIfNeeded: namespace.count)
    }

    /// The part before the first colon; it decides the policy.
    public var namespace: ArraySlice<UInt8> { bytes[..<Int(namespaceCount)] }

    /// The part after the first colon.
    public var id: ArraySlice<UInt8> { bytes[(Int(namespaceCount) + 1)...] }

    /// The topic as text, for logs and JSON; safe to embed unescaped, since the grammar has no quote or control byte.
    public var description: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether the bytes are `[a-z][a-z0-9-]{0,31}`.
    public static func isNamespace(_ bytes: some Collection<UInt8>) -> Bool {
        guard let first = bytes.first, ASCII.isLower(first), bytes.count <= namespaceBytesMax else { return false }
        return bytes.allSatisfy { ASCII.isLower($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "-") }
    }

    /// Whether the bytes are `[A-Za-z0-9._~:-]{1,200}`.
    public static func isID(_ bytes: some Collection<UInt8>) -> Bool {
        let count = bytes.count
        return count >= 1 && count <= idBytesMax && bytes.allSatisfy { idBytes[Int($0)] }
    }

    private static let idBytes: [Bool] = (0..<256).map { value in
        let byte = UInt8(value)
        return ASCII.isLetter(byte) || ASCII.isDigit(byte) || Array("._~:-".utf8).contains(byte)
    }

    /// Feeds the bytes eight at a time: the generic array hash feeds them singly.
    public func hash(into hasher: inout Hasher) {
        var word: UInt64 = 0
        var filled = 0
        for byte in bytes {
            word = word << 8 | UInt64(byte)
            filled += 1
            if filled == 8 {
                hasher.combine(word)
                word = 0
                filled = 0
            }
        }
        hasher.combine(word << 4 | UInt64(filled))
    }
}
