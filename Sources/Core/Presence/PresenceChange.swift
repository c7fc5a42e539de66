/// Who came to a topic and who left it; whoever says something new of itself is in both.
public struct PresenceChange: Equatable, Sendable {
    /// Entries as they are now.
    public var joins: [PresenceMember]
    /// Entries as they were told before.
    public var leaves: [PresenceMember]

    /// Makes a change.
    public init(joins: [PresenceMember] = [], leaves: [PresenceMember] = []) {
        self.joins = joins
        self.leaves = leaves
    }

    /// Whether there is nothing to tell.
    public var isEmpty: Bool { joins.isEmpty && leaves.isEmpty }

    /// About how many bytes a client is sent.
    public var bytes: Int { (joins + leaves).reduce(64) { $0 + $1.key.count + $1.meta.count + 128 } }

    /// What was told before of those that say something new, by name.
    public var replaced: [PresenceID: PresenceMember] {
        guard !leaves.isEmpty else { return [:] }
        let joined = Set(joins.map(\.id))
        return Dictionary(leaves.filter { joined.contains($0.id) }.map { ($0.id, $0) }) { first, _ in first }
    }
}
