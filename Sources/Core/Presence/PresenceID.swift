/// The name of one entry of a topic's presence: `<node>.<shard>.<number>`, made by the gateway, never by a client.
///
/// A new one is made whenever a session begins to be listed, so it stands for one session on one topic.
public struct PresenceID: Hashable, Comparable, Sendable {
    /// The name: 1 to 64 of `A-Z a-z 0-9 _ . -`; safe to embed in JSON unescaped.
    public let bytes: [UInt8]

    /// The most bytes that a name may have.
    public static let bytesMax = 64

    /// An entry of a shard of a node.
    public init(node: [UInt8], shard: Int, number: Int) {
        var bytes = node
        bytes.append(text: ".\(shard).\(number)")
        self.bytes = bytes
    }

    /// Reads a name; `nil` when it is out of the grammar.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count >= 1 && bytes.count <= PresenceID.bytesMax else { return nil }
        let isValid = bytes.allSatisfy {
            ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
                || $0 == UInt8(ascii: ".")
        }
        guard isValid else { return nil }
        self.bytes = Array(bytes)
    }

    /// The gateway that made it; the entry ends when that gateway does.
    public var node: ArraySlice<UInt8> { bytes.prefix { $0 != UInt8(ascii: ".") } }

    /// Whether it was made by this shard of this node.
    public func isOf(node: [UInt8], shard: Int) -> Bool {
        var owner = node
        owner.append(text: ".\(shard).")
        return bytes.starts(with: owner)
    }

    /// Compares by bytes: the order is the same on every node.
    public static func < (one: PresenceID, other: PresenceID) -> Bool {
        one.bytes.lexicographicallyPrecedes(other.bytes)
    }
}
