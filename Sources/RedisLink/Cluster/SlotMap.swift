import Core

/// The known owner of each slot; a value that threads pass to each other.
public struct SlotMap: Equatable, Sendable {
    /// A master with slots.
    public struct Master: Equatable, Sendable {
        /// The node id, by which links are stored: an address may later belong to another node.
        public let id: [UInt8]
        /// The address at which it is reached.
        public let address: ClusterAddress
        /// The config epoch of its claim.
        public let epoch: Int

        /// Makes a master.
        public init(id: [UInt8], address: ClusterAddress, epoch: Int) {
            self.id = id
            self.address = address
            self.epoch = epoch
        }
    }

    /// The number of the map; grows with each accepted map, and a patch keeps it.
    public let generation: Int
    /// The masters that have slots, by node id.
    public private(set) var masters: [Master]
    /// By slot: the index of its master in ``masters``; -1 when the slot has none.
    private var owners: [Int16]

    /// A map without masters.
    public static let empty = SlotMap(generation: 0, masters: [], owners: [])

    private init(generation: Int, masters: [Master], owners: [Int16]) {
        self.generation = generation
        self.masters = masters
        self.owners = owners
    }

    /// Makes a map of the nodes that one node reports; `askedAt` is the host of that node.
    ///
    /// When two nodes claim one slot, the greater config epoch wins. Failed masters keep their slots here until another
    /// node claims them.
    public init(_ nodes: [ClusterNode], askedAt host: String, generation: Int) {
        let claims = nodes.filter { $0.isMaster && !$0.slots.isEmpty }.prefix(Int(Int16.max))
            .sorted { $0.id.lexicographicallyPrecedes($1.id) }
        var owners = [Int16](repeating: -1, count: HashSlot.count)
        for (place, claim) in claims.enumerated() {
            for slot in claim.slots.joined() where owners[slot] < 0 || claims[Int(owners[slot])].epoch < claim.epoch {
                owners[slot] = Int16(truncatingIfNeeded: place)
            }
        }
        self.owners = owners
        self.generation = generation
        masters = claims.map { Master(id: $0.id, address: $0.address.asked(at: host), epoch: $0.epoch) }
    }

    /// The master of a slot; `nil` when none is known.
    public subscript(slot: Int) -> Master? {
        guard owners.indices.contains(slot), masters.indices.contains(Int(owners[slot])) else { return nil }
        return masters[Int(owners[slot])]
    }

    /// The master with that id; `nil` when it has no slots.
    public func master(_ id: [UInt8]) -> Master? { masters.first { $0.id == id } }

    /// Whether a master is known at an address.
    public func knows(_ address: ClusterAddress) -> Bool { masters.contains { $0.address == address } }

    /// Applies a `MOVED` to one slot; returns `false`, without a change, when no master is known at that address.
    public mutating func patch(_ slot: Int, to address: ClusterAddress) -> Bool {
        guard owners.indices.contains(slot), let place = masters.firstIndex(where: { $0.address == address }) else {
            return false
        }
        owners[slot] = Int16(truncatingIfNeeded: place)
        return true
    }

    /// The slots of a master, in order.
    public func slots(of id: [UInt8]) -> [ClosedRange<Int>] {
        guard let place = masters.firstIndex(where: { $0.id == id }) else { return [] }
        return ranges { $0 == place }
    }

    /// The slots without a master, in order.
    public var uncovered: [ClosedRange<Int>] { owners.isEmpty ? [0...HashSlot.count - 1] : ranges { $0 < 0 } }

    private func ranges(_ isIn: (Int16) -> Bool) -> [ClosedRange<Int>] {
        var ranges: [ClosedRange<Int>] = []
        for slot in owners.indices where isIn(owners[slot]) {
            if let last = ranges.last, last.upperBound == slot - 1 {
                ranges[ranges.count - 1] = last.lowerBound...slot
            } else {
                ranges.append(slot...slot)
            }
        }
        return ranges
    }

    /// Whether both maps have the same masters for the same slots.
    public func says(sameAs other: SlotMap) -> Bool { masters == other.masters && owners == other.owners }

    /// Whether the map has an outdated entry: a slot with another owner of a lesser epoch than in `known`.
    ///
    /// A node that was cut off, or was not informed yet, sends such a map.
    public func isOlder(than known: SlotMap) -> Bool {
        (0..<HashSlot.count).contains { slot in
            guard let old = known[slot] else { return false }
            guard let new = self[slot] else { return masters.isEmpty }
            return new.epoch < old.epoch
        }
    }
}
