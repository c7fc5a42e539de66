/// Whom a round asks for the cluster's map: one node after the other, and those last that were of no use the last time.
///
/// A master that has died is known to the map until another took its place, and would be waited for in each round. A value
/// of facts.
struct AskingOrder {
    /// Who is asked now; `nil` between two rounds.
    private(set) var asked: ClusterAddress?
    private var rest: [ClusterAddress] = []
    private var silent: Set<ClusterAddress> = []
    private var failedDials = 0

    /// Dials that fail before another node is asked: a name may have an address of each family.
    static let failedDialsMax = 2

    /// Whether nobody is left to ask after the one that is asked now.
    var isLast: Bool { rest.isEmpty }

    /// A round begins, in which each of these is asked once.
    mutating func begin(_ nodes: [ClusterAddress]) {
        silent.formIntersection(nodes)
        asked = nil
        rest = nodes.filter { !silent.contains($0) } + nodes.filter { silent.contains($0) }
    }

    /// Who is asked next; whoever was asked before was of no use.
    ///
    /// `nil` ends the round.
    mutating func next() -> ClusterAddress? {
        if let asked { silent.insert(asked) }
        failedDials = 0
        asked = rest.isEmpty ? nil : rest.removeFirst()
        return asked
    }

    /// A dial of a node has failed; true when another node is to be asked now.
    mutating func dialFailed(_ address: ClusterAddress) -> Bool {
        guard asked == address, !isLast else { return false }
        failedDials += 1
        return failedDials >= AskingOrder.failedDialsMax
    }

    /// The node that is asked has told a map that was taken, which ends the round.
    mutating func answered() {
        if let asked { silent.remove(asked) }
        asked = nil
    }
}
