import Core
import Operations
import RedisLink
import Testing

@testable import Bus

/// The proof of delivery with one server and with the masters of a cluster.
struct DeliveryProofTests {
    private let first = Array("a".utf8)
    private let second = Array("b".utf8)

    private func proof(shards: Int = 1) -> DeliveryProof {
        DeliveryProof(shards: shards, intervalMs: 1_000, timeoutMs: 500) { slot in
            slot.map { HashSlot.tag(of: $0) } ?? Array("only".utf8)
        }
    }

    private func master(_ id: ServerID, port: Int, _ slots: ClosedRange<Int>) -> BusServer {
        BusServer(id: id, address: ClusterAddress(host: "127.0.0.1", port: port), slots: [slots])
    }

    private let only = BusServer(id: [], address: nil, slots: [])

    /// Connects both links to a server, and lets its first number return.
    private func prove(_ proof: inout DeliveryProof, _ id: ServerID) throws {
        proof.link(.subscriber, 0, id, .up(runID: id), nowMs: 0)
        _ = proof.subscriberLive(0, id)
        proof.link(.calls, 0, id, .up(runID: id), nowMs: 0)
        var number: Int?
        for case .probe(id, _, let sent, [0]) in proof.due(id, nowMs: 0, resumedMs: 0) { number = sent }
        let isReturned = proof.returned(try #require(number), of: 0, at: 0, id, nowMs: 10)
        #expect(isReturned)
    }

    @Test func `the only server is proven under the names of its parts`() throws {
        var proof = proof()
        #expect(proof.conditions == [Condition(.node, .connecting)])
        proof.use([only])
        #expect(proof.channels == [[]: Array("only".utf8)])
        #expect(proof.conditions.map(\.part) == [.subscriber(0), .shard(0)])
        try prove(&proof, [])
        #expect(proof.conditions.isEmpty && proof.provenMs == 10)
        // It is no master of a cluster, whose figures would be shown.
        let isPartly = proof.isPartlyProven()
        #expect(proof.masters.isEmpty && !isPartly)
        // The same placement again, as after each question to Sentinels, begins nothing anew.
        proof.use([only])
        #expect(proof.conditions.isEmpty)
    }

    @Test func `each master has a channel of its own, and a failing one is known by name`() throws {
        var proof = proof()
        proof.use([master(first, port: 1, 0...8_191), master(second, port: 2, 8_192...16_383)])
        #expect(proof.channels == [first: HashSlot.tag(of: 0), second: HashSlot.tag(of: 8_192)])
        #expect(proof.server(of: HashSlot.tag(of: 8_192)) == second)
        try prove(&proof, first)
        #expect(proof.conditions.map(\.part.name) == ["subscriber@127.0.0.1:2", "shard-0@127.0.0.1:2"])
        #expect(proof.conditions.map(\.part.shard) == [0, nil])
        #expect(proof.masters.map(\.isProven) == [true, false])
        #expect(proof.provenMs == nil)
    }

    @Test func `a master that takes another's slots takes over its channel`() throws {
        var proof = proof()
        proof.use([master(first, port: 1, 0...16_383)])
        proof.use([master(second, port: 2, 0...16_383)])
        #expect(proof.channels == [second: HashSlot.tag(of: 0)])
    }

    @Test func `a master that loses the slot of its channel is proven on another`() throws {
        var proof = proof()
        proof.use([master(first, port: 1, 0...16_383)])
        try prove(&proof, first)
        proof.use([master(first, port: 1, 100...16_383), master(second, port: 2, 0...99)])
        #expect(proof.channels == [first: HashSlot.tag(of: 100), second: HashSlot.tag(of: 0)])
        #expect(!proof.conditions.isEmpty)
    }

    @Test func `slots without a master are a condition until they have one`() throws {
        var proof = proof()
        proof.use([master(first, port: 1, 0...99)])
        try prove(&proof, first)
        proof.watched(.damaged(uncovered: [100...16_383], open: []))
        #expect(proof.conditions.map(\.reason) == [.slotsUncovered])
        proof.watched(.damaged(uncovered: [], open: [7]))
        #expect(proof.conditions.isEmpty)
    }

    @Test func `an unreachable cluster matters only while no master is known`() {
        var proof = proof()
        proof.watched(.unreachable(RedisFailure(.loading)))
        #expect(proof.conditions.map(\.reason) == [.redis(.loading)])
        proof.use([master(first, port: 1, 0...16_383)])
        proof.watched(.placed(.slots(.empty)))
        proof.watched(.unreachable(RedisFailure(.loading)))
        #expect(!proof.conditions.contains { $0.part == .node })
    }

    @Test func `the probes' channel counts as subscribed again only after the first time`() {
        var proof = proof(shards: 2)
        proof.use([only])
        let before = proof.subscriberLive(1, [])
        let after = proof.subscriberLive(1, [])
        let another = proof.subscriberLive(0, [])
        #expect(!before && after && !another)
    }
}
