/// The members that joined a topic and those that left it; an entry with a new meta is in both.
public struct PresenceChange: Equatable, Sendable {
    /// The new entries.
    public var joins: [PresenceMember]
    /// The entries as they were last sent to clients.
    public var leaves: [PresenceMember]

    /// Makes a change.
    public init(joins: [PresenceMember] = [], leaves: [PresenceMember] = []) {
        self.joins = joins
        self.leaves = leaves
    }

    /// Whether there is no change.
    public var isEmpty: Bool { joins.isEmpty && leaves.isEmpty }

    /// The approximate number of bytes that a client receives.
    public var bytes: Int { (joins + leaves).reduce(64) { $0 + $1.key.count + $1.meta.count + 128 } }

    /// The former entries of members with a new meta, by name.
    public var replaced: [PresenceID: PresenceMember] {
        guard !leaves.isEmpty else { return [:] }
        let joined = Set(joins.map(\.id))
        return Dictionary(leaves.filter { joined.contains($0.id) }.map { ($0.id, $0) }) { first, _ in first }
    }
}
