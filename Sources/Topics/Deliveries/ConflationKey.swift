import Core

/// The properties that a newer event must share with an older one to replace it.
///
/// These are the topic, the name, and where set the text of one member of its data. The hash is stored, since each of
/// many slow clients needs it.
public struct ConflationKey: Hashable, Sendable {
    private let bytes: [UInt8]
    private let hash: Int

    /// The key of an event; `nil` when its data lacks the member.
    init?(topic: Topic, event: EventName, data: [UInt8], by: NamespacePolicy.ConflateBy, json: JSON.Limits) {
        var bytes = topic.bytes
        bytes.append(0)
        bytes.append(contentsOf: event.bytes)
        if case .member(let name) = by {
            guard let text = try? JSON(parsing: data, limits: json), let value = text.root[name] else { return nil }
            bytes.append(0)
            bytes.append(contentsOf: value.raw)
        }
        self.bytes = bytes
        var hasher = Hasher()
        hasher.combine(bytes)
        hash = hasher.finalize()
    }

    /// Compares the stored hashes first, so that keys which differ cost no look at their bytes.
    public static func == (one: ConflationKey, other: ConflationKey) -> Bool {
        one.hash == other.hash && one.bytes == other.bytes
    }

    /// Takes the stored hash, never the bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }
}
