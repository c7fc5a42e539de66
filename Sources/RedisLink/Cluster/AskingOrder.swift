/// The order in which a round asks nodes for the cluster's map: one after the other, the useless ones of the last round
/// at the end.
///
/// A master that has died stays in the map until another takes its place, and each round would wait for it. A value
/// without I/O.
struct AskingOrder {
    /// The node that is asked now; `nil` between two rounds.
    private(set) var asked: ClusterAddress?
    private var rest: [ClusterAddress] = []
    private var silent: Set<ClusterAddress> = []
    private var failedDials = 0

    /// The number of failed dials before another node is asked: a name may have an address of each family.
    static let failedDialsMax = 2

    /// Whether no node is left to ask after the present one.
    var isLast: Bool { rest.isEmpty }

    /// Begins a round, in which each of these nodes is asked once.
    mutating func begin(_ nodes: [ClusterAddress]) {
        silent.formIntersection(nodes)
        asked = nil
        rest = nodes.filter { !silent.contains($0) } + nodes.filter { silent.contains($0) }
    }

    /// Moves to the next node; the node before it was of no use.
    ///
    /// `nil` ends the round.
    mutating func next() -> ClusterAddress? {
        if let asked { silent.insert(asked) }
        failedDials = 0
        asked = rest.isEmpty ? nil : rest.removeFirst()
        return asked
    }

    /// Counts a failed dial of a node; returns `true` when another node is to be asked now.
    mutating func dialFailed(_ address: ClusterAddress) -> Bool {
        guard asked == address, !isLast else { return false }
        failedDials += 1
        return failedDials >= AskingOrder.failedDialsMax
    }

    /// Ends the round, because the present node has sent a map that was accepted.
    mutating func answered() {
        if let asked { silent.remove(asked) }
        asked = nil
    }
}
