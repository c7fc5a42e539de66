public import Core

/// A session's entry in a topic's presence list.
public struct TrackRequest: Equatable, Sendable {
    /// The key under which Phoenix clients find the entry.
    public enum Key: Equatable, Sendable {
        /// The client's own choice.
        case given([UInt8])
        /// The user, or else a unique key.
        case user
        /// A unique key.
        case unique
    }

    /// The topic, which must be joined.
    public let topic: Topic
    /// The key of the entry.
    public let key: Key
    /// The entry's content: one JSON object, not bounded here.
    public let meta: [UInt8]

    /// Makes a request.
    public init(topic: Topic, key: Key, meta: [UInt8]) {
        self.topic = topic
        self.key = key
        self.meta = meta
    }

    /// The text of a meta without the names that begin with `phx_`, which only the gateway sets.
    static func meta(_ object: JSON.Value) -> [UInt8] {
        guard object.members.contains(where: { $0.nameBytes.starts(with: reserved) }) else { return Array(object.raw) }
        var text: [UInt8] = []
        for member in object.members where !member.nameBytes.starts(with: reserved) {
            text.append(text: text.isEmpty ? "{" : ",")
            text.append(jsonString: member.nameBytes)
            text.append(text: ":")
            text.append(contentsOf: member.raw)
        }
        text.append(text: text.isEmpty ? "{}" : "}")
        return text
    }

    private static let reserved = Array("phx_".utf8)
}
