import Core
import RedisLink
import TestSupport
import Testing

@Suite struct SlotMapTests {
    private static let a = "b2824ccdf257a16cf42febba3e19313f318658a7"
    private static let b = "bfafe994cd31d868c4d51a1a9d8f1f3e46e5dd5d"
    private static let c = "8ee3981d38e205682a13859149e2416b78f4f195"
    private static let bReplica = "869a7190936c2b11951c71587b43384d8c95c532"
    private static let cReplica = "637ea7f0615ee8bce83dddcb7fef3340fd542ccd"

    /// What Redis 7.0.15 told while slot 8000 was on its way, asked at its source.
    private static let moving = """
        \(b) 127.0.0.1:51661@61661 myself,master - 0 1795396465000 2 connected 5461-10921 [8000->-\(a)]
        \(cReplica) 127.0.0.1:44311@54311 slave \(c) 0 1795396465706 3 connected
        \(a) 127.0.0.1:48807@58807 master - 0 1795396466000 1 connected 0-5460
        \(c) 127.0.0.1:46031@56031 master - 0 1795396466000 3 connected 10922-16383
        \(bReplica) 127.0.0.1:55207@65207 slave \(b) 0 1795396466512 2 connected

        """

    /// The same cluster later: the slot has moved, B was failed over in good order, and C has died.
    private static let later = """
        \(bReplica) 127.0.0.1:55207@65207 master - 0 1795396470000 7 connected 5461-7999 8001-10921
        \(a) 127.0.0.1:48807@58807 myself,master - 0 1795396470000 6 connected 0-5460 8000
        \(c) 127.0.0.1:46031@56031 master,fail - 1795396466763 1795396465729 3 disconnected
        \(cReplica) 127.0.0.1:44311@54311 master - 0 1795396470547 8 connected 10922-16383
        \(b) 127.0.0.1:51661@61661 slave \(bReplica) 0 1795396470144 7 connected

        """

    private static func nodes(_ text: String) -> [ClusterNode]? {
        ClusterNode.list(bytes(text), nodesMax: 16, prefersNames: false)
    }

    private static func map(_ text: String, generation: Int = 1) throws -> SlotMap {
        SlotMap(try #require(nodes(text)), askedAt: "asked", generation: generation)
    }

    @Test func theOwnersAreThoseThatRedisTells() throws {
        let map = try SlotMapTests.map(SlotMapTests.moving)
        #expect(map.uncovered.isEmpty)
        #expect(map.masters.count == 3)
        #expect(map[8_000]?.id == bytes(SlotMapTests.b))
        #expect(map[5_460]?.address.description == "127.0.0.1:48807")
        #expect(map[16_384] == nil)
        #expect(map[-1] == nil)
        #expect(map.slots(of: bytes(SlotMapTests.c)) == [10_922...16_383])
        #expect(try #require(SlotMapTests.nodes(SlotMapTests.moving))[0].openSlots == [8_000])
    }

    @Test func aFailoverAndAMoveChangeTheOwnersAndNotTheAddressesOfOthers() throws {
        let (before, after) = (try SlotMapTests.map(SlotMapTests.moving), try SlotMapTests.map(SlotMapTests.later))
        #expect(after[8_000]?.id == bytes(SlotMapTests.a))
        #expect(after.slots(of: bytes(SlotMapTests.bReplica)) == [5_461...7_999, 8_001...10_921])
        #expect(after[16_383]?.id == bytes(SlotMapTests.cReplica))
        #expect(after.master(bytes(SlotMapTests.c)) == nil)
        #expect(!after.isOlder(than: before))
        #expect(before.isOlder(than: after))
        #expect(!after.isOlder(than: .empty))
        #expect(SlotMap.empty.isOlder(than: after))
        #expect(after.says(sameAs: try SlotMapTests.map(SlotMapTests.later, generation: 9)))
        #expect(!after.says(sameAs: before))
    }

    @Test func aPatchChangesOneSlotAndOnlyToSomebodyKnown() throws {
        var map = try SlotMapTests.map(SlotMapTests.moving)
        let known = ClusterAddress(host: "127.0.0.1", port: 48_807)
        let wasTaken = [
            map.patch(8_000, to: ClusterAddress(host: "127.0.0.1", port: 1)), map.patch(16_384, to: known),
            map.patch(8_000, to: known),
        ]
        #expect(wasTaken == [false, false, true])
        #expect(map[8_000]?.id == bytes(SlotMapTests.a))
        #expect(map[8_001]?.id == bytes(SlotMapTests.b))
        var nothing = SlotMap.empty
        let wasPatched = nothing.patch(1, to: known)
        #expect(!wasPatched)
        #expect(nothing.uncovered == [0...16_383])
    }

    @Test func theGreaterClaimHasASlotThatTwoClaim() throws {
        let text = """
            \(SlotMapTests.a) :7001@17001 myself,master - 0 0 5 connected 0-10
            \(SlotMapTests.b) h2:7002@17002,name-2 master - 0 0 9 connected 5-20
            """
        let map = try SlotMapTests.map(text)
        #expect(map[4]?.address.description == "asked:7001")
        #expect(map[5]?.id == bytes(SlotMapTests.b))
        #expect(map[10]?.id == bytes(SlotMapTests.b))
        #expect(map.uncovered == [21...16_383])
        let named = try #require(ClusterNode.list(bytes(text), nodesMax: 2, prefersNames: true))
        #expect(named.map(\.address.description) == [":7001", "name-2:7002"])
        #expect(ClusterNode.list(bytes(text), nodesMax: 1, prefersNames: false) == nil)
    }

    @Test(arguments: [
        "", "x", "\(a) 127.0.0.1:1@2 master - 0 0 1 connected 0-1",
        "\(a) 127.0.0.1:1@2 myself,master - 0 0 1 connected 0-16384",
        "\(a) 127.0.0.1:1@2 myself,master - 0 0 1 connected 9-1",
        "\(a) 127.0.0.1:1@2 myself,master - 0 0 1 connected 1-2-3",
        "\(a) 127.0.0.1:1@2 myself,master - 0 0 -1 connected 1", "\(a) 127.0.0.1:0@2 myself,master - 0 0 1 connected 1",
        "zz 127.0.0.1:1@2 myself,master - 0 0 1 connected 1", "\(a) no-port myself,master - 0 0 1 connected 1",
        "\(a) 127.0.0.1:1@2 myself,master - 0 0 1 connected [99999->-x]",
        "\(a) 127.0.0.1:1@2 myself,master - 0 0 1 connected 0-16383 5", "\(a) a b:1@2 myself,master - 0 0 1 connected",
        "\(a) 127.0.0.1:1@2 myself,master - 0 0 1",
    ])
    func whatIsNoTopologyIsRefused(_ text: String) {
        #expect(SlotMapTests.nodes(text) == nil)
    }

    @Test func damagedTopologiesNeverTrap() {
        var random = Seeded(7)
        for _ in 0..<2_000 {
            var text = bytes(SlotMapTests.later)
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 0..<text.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: text[place] = UInt8.random(in: 0...255, using: &random)
                case 1: text.remove(at: place)
                default: text.insert(contentsOf: bytes("9999999999999999999"), at: place)
                }
            }
            guard let nodes = ClusterNode.list(text, nodesMax: 16, prefersNames: true) else { continue }
            let map = SlotMap(nodes, askedAt: "h", generation: 1)
            #expect(map.masters.count <= 16)
        }
    }
}
