/// The address of a shard among the shards of all nodes.
///
/// The ids of sessions begin with it: `NODE.SHARD.` and a part that the shard gives only once.
public struct ShardAddress: Hashable, Sendable {
    /// The node's name.
    public let node: [UInt8]
    /// The shard's number on that node.
    public let shard: Int

    /// The number of shards that an address can name.
    static let shardsMax = 1_024
    /// Bytes of a node's name.
    static let nodeBytesMax = 32

    /// The shard of that number, from 0, on a node; the name has at most 32 bytes.
    public init(node: [UInt8], shard: Int) {
        self.node = node
        self.shard = shard
    }

    /// Parses a node's name and a shard's number; `nil` when they are malformed.
    public init?(node: ArraySlice<UInt8>, shard: ArraySlice<UInt8>) {
        guard ShardAddress.isNode(node), let number = ASCII.decimal(shard), number < ShardAddress.shardsMax else {
            return nil
        }
        self.init(node: Array(node), shard: number)
    }

    /// Whether a text can be a node's name.
    public static func isNode(_ name: some Collection<UInt8>) -> Bool {
        (1...nodeBytesMax).contains(name.count)
            && name.allSatisfy {
                ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            }
    }

    // MARK: Ids of sessions

    /// `NODE.SHARD.`, with which the ids of its sessions begin.
    public var idStart: [UInt8] {
        var text = node
        text.append(UInt8(ascii: "."))
        text.append(decimal: shard)
        text.append(UInt8(ascii: "."))
        return text
    }

    /// `NODE.SHARD.NUMBER`, the id of a session for operators; no other session ever has it.
    public func id(ofSession number: UInt32) -> [UInt8] {
        var id = idStart
        id.append(decimal: Int(number))
        return id
    }

    /// Parses an id: the shard that made it, and its last part; `nil` when it is malformed.
    public static func parts(ofID id: [UInt8]) -> (home: ShardAddress, last: ArraySlice<UInt8>)? {
        let parts = id.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let home = ShardAddress(node: parts[0], shard: parts[1]) else { return nil }
        return (home, parts[2])
    }
}
