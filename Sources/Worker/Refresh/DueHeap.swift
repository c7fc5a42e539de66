/// The least of many due times: a binary heap.
///
/// A node stays when its time changes. The caller that asks for the least time decides whether a node is still valid;
/// an invalid node is dropped then.
struct DueHeap {
    /// A time, and the slot in the owner's table that it belongs to.
    struct Node: Equatable {
        var dueMs: Int
        var slot: Int
        /// A number that distinguishes successive users of one slot.
        var stamp: Int
    }

    private var nodes: [Node] = []

    /// The number of nodes, invalid ones included.
    var count: Int { nodes.count }

    /// Adds a time.
    mutating func add(_ node: Node) {
        nodes.append(node)
        var child = nodes.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard nodes[child].dueMs < nodes[parent].dueMs else { return }
            nodes.swapAt(child, parent)
            child = parent
        }
    }

    /// The least valid time; invalid ones are dropped on the way.
    mutating func least(where holds: (Node) -> Bool) -> Node? {
        while let first = nodes.first {
            if holds(first) { return first }
            removeLeast()
        }
        return nil
    }

    /// Drops every invalid time.
    mutating func removeAll(unless holds: (Node) -> Bool) {
        let kept = nodes.filter(holds)
        nodes = []
        for node in kept { add(node) }
    }

    private mutating func removeLeast() {
        guard let last = nodes.popLast(), !nodes.isEmpty else { return }
        nodes[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < nodes.count {
                if nodes[child].dueMs < nodes[least].dueMs { least = child }
            }
            guard least != parent else { return }
            nodes.swapAt(parent, least)
            parent = least
        }
    }
}
