import Core

/// The partitions that this worker holds, those that it wants, and the time until which it holds them.
///
/// Every worker computes the distribution from the same list of live workers (rendezvous hashing). When a worker joins
/// or leaves, only the partitions that it gains or loses move. A value of facts: no I/O; times are monotonic
/// milliseconds of the caller's.
struct LeaseTable {
    /// The changes caused by a reply or the passing of time.
    struct Change: Equatable {
        /// Partitions to start with; held ones with a new token are among them.
        var gained: [Int] = []
        /// Partitions to stop working on.
        var lost: [Int] = []
        /// Whether to send the call again at once: the wanted partitions differ from those requested.
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
    /// The fencing token of each partition; `nil` where it is not held.
    private var tokens = [Int?](repeating: nil, count: Partition.count)
    private var wanted: Set<Int> = []
    /// The partitions that the pending call requests.
    private var asked: Set<Int> = []
    private var askedMs = 0
    /// Partitions whose token was refused as too old; they are requested again only once they were given back.
    private var refused: Set<Int> = []
    /// The live workers, from the last reply.
    private(set) var workers: [[UInt8]] = []
    /// The time at which work on the held partitions must stop, a tenth of the lease before the lease ends.
    private(set) var endMs = Int.min

    init(name: [UInt8], leaseMs: Int) {
        self.name = name
        self.leaseMs = leaseMs
    }

    /// The token of a partition that may be worked on now; `nil` when it may not.
    func token(of partition: Int, nowMs: Int) -> Int? {
        nowMs < endMs ? tokens[partition] : nil
    }

    /// The number of partitions held.
    var heldCount: Int { tokens.count { $0 != nil } }

    /// The partitions to request now, in order; the caller sends the call at once, one call at a time.
    mutating func ask(nowMs: Int) -> [Int] {
        asked = wanted.subtracting(refused)
        askedMs = nowMs
        return asked.sorted()
    }

    /// Takes the reply to the call.
    mutating func replied(_ reply: Reply) -> Change {
        var change = Change()
        // Counted from the time of sending, not of the answer: the lease began no earlier.
        endMs = max(endMs, askedMs + leaseMs - leaseMs / 10)
        workers = reply.workers
        let before = asked
        wanted = LeaseTable.share(of: name, among: reply.workers)
        // A partition that was refused while the call was pending has not been given back yet.
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

    /// Drops a partition whose token was refused as too old; it is given back, then requested again.
    mutating func refuse(_ partition: Int) -> Change {
        guard tokens[partition] != nil else { return Change() }
        tokens[partition] = nil
        refused.insert(partition)
        return Change(lost: [partition], mustAskAgain: true)
    }

    /// Drops all partitions once their time has passed without an answer.
    mutating func expire(nowMs: Int) -> Change {
        nowMs < endMs ? Change() : dropAll()
    }

    /// Drops all partitions.
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
