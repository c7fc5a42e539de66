import Testing

@testable import RedisLink

/// Whom a round asks for the cluster's map.
@Suite struct AskingOrderTests {
    /// An order whose steps can stand in an expectation.
    private final class Rounds {
        var order = AskingOrder()

        func next() -> ClusterAddress? { order.next() }
        func dialFailed(_ address: ClusterAddress) -> Bool { order.dialFailed(address) }

        /// Everybody who is asked in a round in which nobody is of use.
        func all(_ nodes: [ClusterAddress]) -> [ClusterAddress] {
            order.begin(nodes)
            var asked: [ClusterAddress] = []
            while let next = order.next() { asked.append(next) }
            return asked
        }

        /// A round in which that node is the first of use.
        func untilAnswered(_ nodes: [ClusterAddress], by node: ClusterAddress) -> Int {
            order.begin(nodes)
            var asked = 1
            while let next = order.next(), next != node { asked += 1 }
            order.answered()
            return asked
        }
    }

    private let nodes = (1...3).map { ClusterAddress(host: "10.0.0.\($0)", port: 6379) }

    /// A master that had died was dialled in every round until a second had passed, and the map that told of its successor
    /// came two seconds late.
    @Test func whoWasOfNoUseIsAskedAfterAllOthersUntilItIsOfUse() {
        let rounds = Rounds()
        #expect(rounds.untilAnswered(nodes, by: nodes[1]) == 2)
        #expect(rounds.untilAnswered(nodes, by: nodes[1]) == 1)
        #expect(rounds.order.asked == nil)
        #expect(rounds.untilAnswered(nodes, by: nodes[0]) == 3)
        #expect(rounds.untilAnswered(nodes, by: nodes[0]) == 1)
    }

    @Test func aNodeThatRefusesTwoDialsIsLeftWhileThereAreOthers() {
        let rounds = Rounds()
        rounds.order.begin(Array(nodes.prefix(2)))
        #expect(rounds.next() == nodes[0])
        #expect(!rounds.dialFailed(nodes[0]), "a name may have two addresses")
        #expect(!rounds.dialFailed(nodes[1]), "it is not asked")
        #expect(rounds.dialFailed(nodes[0]))
        #expect(rounds.next() == nodes[1])
        #expect(rounds.order.isLast)
        for _ in 0..<3 { #expect(!rounds.dialFailed(nodes[1]), "there is nobody else") }
        #expect(rounds.next() == nil)
    }

    @Test func nodesThatAreNotKnownAnyMoreAreForgotten() {
        let rounds = Rounds()
        #expect(rounds.untilAnswered(nodes, by: nodes[1]) == 2)
        #expect(rounds.untilAnswered(Array(nodes.dropFirst()), by: nodes[1]) == 1)
        #expect(rounds.all(nodes) == nodes)
    }
}
