import Testing

@testable import RedisLink

/// At a failover the links that publish leave the old master before the link that receives.
struct LeaveOrderTests {
    /// The receiving link of a process with three shards.
    private final class Holder {
        private var order = LeaveOrder(followers: 3, patienceMs: 250)

        func mayTake(_ map: ServerMap, after present: ServerMap?, nowMs: Int) -> Bool {
            order.mayTake(map, after: present, nowMs: nowMs)
        }

        func followed(by shard: Int, generation: Int) -> Bool { order.followed(by: shard, generation: generation) }

        func isOverdue(nowMs: Int) -> Bool { order.isOverdue(nowMs: nowMs) }
    }

    private static func map(_ generation: Int, port: Int?) -> ServerMap {
        let masters = port.map {
            [ServerMap.Master(endpoint: .network(host: "127.0.0.1", port: $0, tls: false), history: [], admitted: [])]
        }
        return ServerMap(generation: generation, masters: masters ?? [], trouble: nil)
    }

    private let old = LeaveOrderTests.map(1, port: 1)
    private let new = LeaveOrderTests.map(2, port: 2)
    private let order = Holder()

    @Test func `shards leave before the bus`() {
        #expect(!order.mayTake(new, after: old, nowMs: 0))
        #expect(!order.followed(by: 0, generation: 2))
        #expect(!order.followed(by: 2, generation: 2))
        // One that answers twice does not stand for another.
        #expect(!order.followed(by: 2, generation: 2))
        #expect(!order.isOverdue(nowMs: 249))
        #expect(order.followed(by: 1, generation: 2))
        #expect(!order.isOverdue(nowMs: 1_000))
    }

    @Test func `an answer to an older map does not count`() {
        #expect(!order.mayTake(new, after: old, nowMs: 0))
        for shard in 0..<3 { #expect(!order.followed(by: shard, generation: 1)) }
        // One to a newer map does: its shard has left the old master as well.
        #expect(!order.followed(by: 0, generation: 3))
        #expect(!order.followed(by: 1, generation: 2))
        #expect(order.followed(by: 2, generation: 2))
    }

    @Test func `the same map again does not let the bus go first`() {
        #expect(!order.mayTake(new, after: old, nowMs: 0))
        #expect(!order.mayTake(LeaveOrderTests.map(3, port: 2), after: old, nowMs: 10))
        #expect(!order.isOverdue(nowMs: 249))
    }

    @Test func `a shard that does not answer delays the bus for a moment only`() {
        #expect(!order.mayTake(new, after: old, nowMs: 1_000))
        #expect(!order.followed(by: 0, generation: 2))
        #expect(!order.isOverdue(nowMs: 1_249))
        #expect(order.isOverdue(nowMs: 1_250))
        #expect(!order.followed(by: 1, generation: 2))
    }

    @Test func `without another master nothing is left, and nothing waits`() {
        #expect(order.mayTake(new, after: nil, nowMs: 0))
        #expect(order.mayTake(old, after: old, nowMs: 0))
        #expect(order.mayTake(LeaveOrderTests.map(2, port: nil), after: old, nowMs: 0))
    }

    @Test func `a third master begins the wait anew, and the old one again ends it`() {
        #expect(!order.mayTake(new, after: old, nowMs: 0))
        #expect(!order.followed(by: 0, generation: 2))
        #expect(!order.mayTake(LeaveOrderTests.map(3, port: 3), after: old, nowMs: 100))
        #expect(!order.isOverdue(nowMs: 300))
        #expect(!order.followed(by: 1, generation: 3))
        #expect(order.mayTake(LeaveOrderTests.map(4, port: 1), after: old, nowMs: 310))
        #expect(!order.isOverdue(nowMs: 1_000))
    }

    @Test func `a cluster's placement is taken at once`() {
        var order = LeaveOrder(followers: 3, patienceMs: 250)
        let (before, after) = (Placement.servers(old), Placement.servers(new))
        let isTakenAtOnce = order.mayTake(.slots(.empty), after: .slots(.empty), nowMs: 0)
        #expect(isTakenAtOnce && !order.isWaiting)
        let isFirst = order.mayTake(before, after: nil, nowMs: 0)
        let isNext = order.mayTake(after, after: before, nowMs: 0)
        #expect(isFirst && !isNext && order.isWaiting)
    }
}
