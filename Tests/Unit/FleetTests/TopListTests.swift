import Testing

@testable import Fleet

/// A list of fixed size keeps the largest elements in whatever order they come.
@Suite struct TopListTests {
    @Test func theLargestStayInAnyOrder() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<50 {
            let ranks = (0..<200).map { _ in Int.random(in: 0...60, using: &random) }
            var list = TopList<Int>(capacity: 17)
            for rank in ranks { list.offer(rank, rank) }
            #expect(list.sorted == Array(ranks.sorted(by: >).prefix(17)))
        }
    }

    @Test func anElementThatWouldNotStayIsKnownBefore() {
        var list = TopList<String>(capacity: 2)
        list.offer("a", 5)
        #expect(list.admits(0))
        list.offer("b", 3)
        #expect(!list.admits(3) && list.admits(4))
        list.offer("c", 4)
        #expect(list.sorted == ["a", "c"])
    }
}
