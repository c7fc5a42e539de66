import Core

/// Which partitions this worker holds, which it wants, and until when.
///
/// Every worker computes from the same list of live workers who should have what (rendezvous hashing): when one comes
/// or goes, only the partitions that it gains or leaves change hands. A value of facts: no I/O; times are monotonic
/// milliseconds of the caller's.
struct LeaseBook {
    /// What a reply or the passing of time changed.
    struct Change: Equatable {
        /// Partitions to begin with; held ones whose token is new are among them.
        var gained: [Int] = []
        /// Partitions to leave alone from now on.
        var lost: [Int] = []
        /// Whether to ask again at once: what is wanted is not what was asked for.
        var mustAskAgain = false
    }

    /// The reply of the lease script.
    struct Reply: Equatable {
        /// The live workers' names.
        var workers: [[UInt8]]
        /// Tokens of the partitions this worker holds.
        var tokens: [Int: Int]
    }

    private let name: [UInt8]
    private let leaseMs: Int
    /// By partition: the fencing token; `nil` where it is not held.
    private var tokens = [Int?](repeating: nil, count: Partition.count)
    private var wanted: Set<Int> = []
    /// What the call on its way asked for.
    private var asked: Set<Int> = []
    private var askedMs = 0
    /// Partitions to ask for only after they were given back once: their token was found too old.
    private var refused: Set<Int> = []
    /// Live workers as told last.
    private(set) var workers: [[UInt8]] = []
    /// When the held partitions must be left alone; work ends a tenth of the lease before the lease itself.
    private(set) var endMs = Int.min

    init(name: [UInt8], leaseMs: Int) {
        self.name = name
        self.leaseMs = leaseMs
    }

    /// The token of a partition that may be worked on now; `nil` when it may not.
    func token(of partition: Int, nowMs: Int) -> Int? {
        nowMs < endMs ? tokens[partition] : nil
    }

    /// How many partitions are held.
    var heldCount: Int { tokens.count { $0 != nil } }

    /// What to ask for now, in order; the caller sends it at once, one call at a time.
    mutating func ask(nowMs: Int) -> [Int] {
        asked = wanted.subtracting(refused)
        askedMs = nowMs
        return asked.sorted()
    }

    /// Takes the reply to the call.
    mutating func replied(_ reply: Reply) -> Change {
        var change = Change()
        // From when it was sent, not from when the answer came: the lease began no earlier.
        endMs = max(endMs, askedMs + leaseMs - leaseMs / 10)
        workers = reply.workers
        let before = asked
        wanted = LeaseBook.share(of: name, among: reply.workers)
        // Was it refused while the call was on its way, it was not given back yet.
        refused.formIntersection(before)
        for partition in 0..<Partition.count {
            let granted = reply.tokens[partition]
            let isHeld = granted != nil && wanted.contains(partition) && !refused.contains(partition)
            if isHeld {
                if tokens[partition] != granted { change.gained.append(partition) }
                tokens[partition] = granted
            } else if tokens[partition] != nil {
                tokens[partition] = nil
                change.lost.append(partition)
            }
        }
        change.mustAskAgain = wanted.subtracting(refused) != before
        return change
    }

    /// Leaves a partition alone because its token was found too old; it is given back, then asked for anew.
    mutating func refuse(_ partition: Int) -> Change {
        guard tokens[partition] != nil else { return Change() }
        tokens[partition] = nil
        refused.insert(partition)
        return Change(lost: [partition], mustAskAgain: true)
    }

    /// Leaves everything alone whose time is over because no call was answered.
    mutating func expire(nowMs: Int) -> Change {
        nowMs < endMs ? Change() : dropAll()
    }

    /// Leaves everything alone.
    mutating func dropAll() -> Change {
        let lost = tokens.indices.filter { tokens[$0] != nil }
        for partition in lost { tokens[partition] = nil }
        return Change(lost: lost)
    }

    /// The partitions that a worker should have: those for which its weight is the greatest.
    static func share(of name: [UInt8], among workers: [[UInt8]]) -> Set<Int> {
        guard workers.contains(name) else { return [] }
        var share: Set<Int> = []
        for partition in 0..<Partition.count {
            let own = weight(name, partition)
            let isGreatest = workers.allSatisfy { other in
                let theirs = weight(other, partition)
                return theirs < own || (theirs == own && !name.lexicographicallyPrecedes(other))
            }
            if isGreatest { share.insert(partition) }
        }
        return share
    }

    private static func weight(_ worker: [UInt8], _ partition: Int) -> UInt64 {
        StableHash.of(worker + [UInt8(truncatingIfNeeded: partition)])
    }
}
