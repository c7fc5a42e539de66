import Reactors
import RedisLink
import Testing

@testable import Operations

/// What a node keeps of the masters of a cluster.
@Suite struct MasterFiguresTests {
    @Test func aLinkThatFollowsAnotherGoesOnWithItsFigures() {
        let figures = MasterFigures(addressesMax: 4)
        let first = figures.statistics(of: "a:1", link: "shard-0")
        first.sent.add(3)
        #expect(figures.statistics(of: "a:1", link: "shard-0") === first)
        #expect(figures.statistics(of: "a:1", link: "shard-1") !== first, "each thread counts for itself")
        #expect(figures.links.count == 1 && figures.links[0].links.count == 2)
    }

    /// Addresses that change with each restart must not fill the memory.
    @Test func addressesThatAreNoMastersMakeRoomForNewOnes() {
        let figures = MasterFigures(addressesMax: 3)
        figures.use([MasterFigures.Master(address: "a:0", slots: 16_384, isProven: true)])
        let kept = figures.statistics(of: "a:0", link: "shard-0")
        for number in 1..<100 {
            _ = figures.statistics(of: "a:\(number)", link: "shard-0")
            #expect(figures.links.count <= 3)
        }
        #expect(figures.statistics(of: "a:0", link: "shard-0") === kept)
    }
}
