public import Core

/// What a session says of itself on a topic, to be listed there among those who are here.
public struct TrackRequest: Equatable, Sendable {
    /// Under which name Phoenix clients find it.
    public enum Key: Equatable, Sendable {
        /// This one, which the client has chosen.
        case given([UInt8])
        /// That of the user, or else one of its own.
        case user
        /// One of its own.
        case unique
    }

    /// The topic, which must be joined.
    public let topic: Topic
    /// Under which name.
    public let key: Key
    /// What it says: one JSON object, not bounded here.
    public let meta: [UInt8]

    /// Makes a request.
    public init(topic: Topic, key: Key, meta: [UInt8]) {
        self.topic = topic
        self.key = key
        self.meta = meta
    }

    /// The text of a meta, without the members that are the gateway's to say: those whose names begin with `phx_`.
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
