import Core

/// One line of `CLUSTER NODES`: the asked node's report of itself or of another node.
///
/// Of the three commands for the topology only this one gives the config epoch. It names the same owners as `CLUSTER
/// SHARDS` and `CLUSTER SLOTS`, in every version of Redis.
public struct ClusterNode: Equatable, Sendable {
    /// 40 hexadecimal digits, constant for the life of the node.
    public let id: [UInt8]
    /// The address at which clients reach it.
    public let address: ClusterAddress
    /// Whether it reports itself as a master, with slots or without.
    public let isMaster: Bool
    /// Whether the cluster has agreed that it has failed (`fail`); a suspicion (`fail?`) does not count.
    public let hasFailed: Bool
    /// Whether it is the node that was asked.
    public let isAsked: Bool
    /// The config epoch of its claim to its slots; the greater claim is the newer.
    public let epoch: Int
    /// The slots that it owns.
    public let slots: [ClosedRange<Int>]
    /// The slots that it is giving to another node or taking from one; given only for the node that was asked.
    public let openSlots: [Int]

    /// Reads the text of `CLUSTER NODES`; `nil` when a line is malformed, or there are more than `nodesMax` nodes.
    ///
    /// Also `nil` when no line is about the node that was asked. `prefersNames`: certificates are checked, so a node
    /// that announces a name is reached by it.
    public static func list(_ text: [UInt8], nodesMax: Int, prefersNames: Bool) -> [ClusterNode]? {
        var nodes: [ClusterNode] = []
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let line = line.last == 0x0d ? line.dropLast() : line
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: HashSlot.count + 8)
            guard fields.count >= 8 else { return nil }
            let flags = fields[2].split(separator: UInt8(ascii: ","))
            // Such a node has not joined yet, or its address is unknown.
            if flags.contains(where: { $0.elementsEqual("handshake".utf8) || $0.elementsEqual("noaddr".utf8) }) {
                continue
            }
            guard nodes.count < nodesMax, let node = ClusterNode(fields, flags, prefersNames: prefersNames) else {
                return nil
            }
            nodes.append(node)
        }
        return nodes.contains(where: \.isAsked) ? nodes : nil
    }

    private init?(_ fields: [ArraySlice<UInt8>], _ flags: [ArraySlice<UInt8>], prefersNames: Bool) {
        func has(_ flag: StaticString) -> Bool { flags.contains { $0.elementsEqual("\(flag)".utf8) } }
        guard fields[0].count == 40, fields[0].allSatisfy({ ASCII.hexValue($0) != nil }),
            let address = ClusterNode.address(fields[1], prefersNames: prefersNames),
            let epoch = ASCII.decimal(fields[6])
        else { return nil }
        id = Array(fields[0])
        self.address = address
        isMaster = has("master")
        hasFailed = has("fail")
        isAsked = has("myself")
        self.epoch = epoch
        var slots: [ClosedRange<Int>] = []
        var openSlots: [Int] = []
        var count = 0
        for field in fields[8...] {
            if field.first == UInt8(ascii: "[") {
                guard let slot = ASCII.decimal(field.dropFirst().prefix { $0 != UInt8(ascii: "-") }),
                    slot < HashSlot.count
                else { return nil }
                openSlots.append(slot)
                continue
            }
            let ends = field.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
            guard ends.count <= 2, let first = ASCII.decimal(ends[0]), let last = ASCII.decimal(ends[ends.count - 1]),
                first <= last, last < HashSlot.count
            else { return nil }
            slots.append(first...last)
            count += last - first + 1
            // A node that repeats slots could make the map take minutes.
            guard count <= HashSlot.count else { return nil }
        }
        self.slots = slots
        self.openSlots = openSlots
    }

    /// Reads `ip:port@busport,hostname`, in which the part behind the port, or the address, may be missing.
    private static func address(_ field: ArraySlice<UInt8>, prefersNames: Bool) -> ClusterAddress? {
        let parts = field.split(separator: UInt8(ascii: ","), maxSplits: 2, omittingEmptySubsequences: false)
        guard let address = ClusterAddress(parts[0].prefix { $0 != UInt8(ascii: "@") }) else { return nil }
        guard parts.count > 1, !parts[1].isEmpty, prefersNames || address.host.isEmpty,
            !parts[1].contains(UInt8(ascii: "=")), parts[1].allSatisfy(ClusterAddress.isHostByte)
        else { return address }
        return ClusterAddress(host: String(decoding: parts[1], as: UTF8.self), port: address.port)
    }
}
