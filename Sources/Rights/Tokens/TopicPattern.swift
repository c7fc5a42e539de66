public import Core

/// A set of topics granted by a token: one exact topic, or every topic that starts with `namespace:` and more.
///
/// Grammar: `namespace:id`, `namespace:*`, or `namespace:prefix*`. A star may only be last, and the namespace is always
/// written in full, so no pattern spans two namespaces. Matching is by bytes.
public struct TopicPattern: Hashable, Sendable {
    /// The exact topic, or the start of the topics that match.
    private let bytes: [UInt8]
    private let isPrefix: Bool

    /// Reads a pattern; `nil` when it is out of the grammar.
    public init?(_ text: some Collection<UInt8>) {
        var body = Array(text)
        let isPrefix = body.last == UInt8(ascii: "*")
        if isPrefix { body.removeLast() }
        guard let colon = body.firstIndex(of: UInt8(ascii: ":")), Topic.isNamespace(body[..<colon]) else { return nil }
        let id = body[(colon + 1)...]
        guard Topic.isID(id) || (isPrefix && id.isEmpty) else { return nil }
        self.bytes = body
        self.isPrefix = isPrefix
    }

    /// Reads a pattern from text; the same grammar.
    public init?(_ text: String) {
        self.init(Array(text.utf8))
    }

    /// Whether a topic is in the set.
    public func matches(_ topic: Topic) -> Bool {
        isPrefix ? topic.bytes.starts(with: bytes) : topic.bytes == bytes
    }

    /// The namespace of every topic in the set.
    public var namespace: ArraySlice<UInt8> { bytes.prefix { $0 != UInt8(ascii: ":") } }

    /// The pattern's text, ASCII.
    public var text: [UInt8] { isPrefix ? bytes + [UInt8(ascii: "*")] : bytes }
}
