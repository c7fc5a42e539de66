import TestSupport
import Testing

@testable import Worker

@Suite struct DiscoveryTests {
    private func scan(_ step: Discovery.Step) -> String? {
        guard case .scan(let cursor, _) = step else { return nil }
        return String(decoding: cursor, as: UTF8.self)
    }

    @Test func aLookIsManyScansWithPausesAndTheNextBeginsAfterTheInterval() {
        var discovery = Discovery(pauseMs: 40, intervalMs: 1_000)
        let result1 = discovery.next(nowMs: 5)
        #expect(result1 == .scan(cursor: [48], isFirst: true))
        let result2 = discovery.next(nowMs: 6)
        #expect(result2 == .wait && discovery.dueMs == Int.max)
        let result3 = discovery.replied(cursor: Array("17".utf8), nowMs: 10)
        #expect(!result3)
        let result4 = discovery.next(nowMs: 49)
        #expect(discovery.dueMs == 50 && result4 == .wait)
        let result5 = discovery.next(nowMs: 50)
        #expect(result5 == .scan(cursor: Array("17".utf8), isFirst: false))
        let result6 = discovery.replied(cursor: [48], nowMs: 60)
        #expect(result6)
        #expect(discovery.lastMs == 55 && discovery.dueMs == 1_005)
        let result7 = discovery.next(nowMs: 1_005)
        #expect(result7 == .scan(cursor: [48], isFirst: true))
    }

    @Test func aLookLongerThanTheIntervalIsFollowedAfterAPause() {
        var discovery = Discovery(pauseMs: 40, intervalMs: 100)
        _ = discovery.next(nowMs: 0)
        let result8 = discovery.replied(cursor: [48], nowMs: 500)
        #expect(result8)
        #expect(discovery.dueMs == 540)
    }

    @Test func aRestartBeginsAnewAlsoWhileAReplyIsAwaited() {
        var discovery = Discovery(pauseMs: 40, intervalMs: 1_000)
        _ = discovery.next(nowMs: 0)
        discovery.restart()
        let result9 = discovery.next(nowMs: 1)
        #expect(result9 == .wait)
        let result10 = discovery.replied(cursor: Array("9".utf8), nowMs: 2)
        #expect(!result10, "the look it belongs to is over")
        let result11 = discovery.next(nowMs: 2)
        #expect(result11 == .scan(cursor: [48], isFirst: true))
        let result12 = discovery.replied(cursor: [48], nowMs: 3)
        #expect(result12)
    }

    @Test func aFailureIsTriedAgainAfterTheInterval() {
        var discovery = Discovery(pauseMs: 40, intervalMs: 1_000)
        _ = discovery.next(nowMs: 0)
        discovery.failed(nowMs: 10)
        #expect(discovery.dueMs == 1_010 && discovery.lastMs == nil)
        let result13 = discovery.next(nowMs: 1_010)
        #expect(result13 == .scan(cursor: [48], isFirst: true))
    }

    @Test(arguments: 0..<8) func theHeapGivesTheLeastThatHolds(seed: UInt64) {
        var random = Seeded(seed)
        var heap = DueHeap()
        var model: [DueHeap.Node] = []
        var valid: Set<Int> = []
        for stamp in 0..<600 {
            let node = DueHeap.Node(dueMs: Int.random(in: 0..<300, using: &random), slot: 0, stamp: stamp)
            heap.add(node)
            model.append(node)
            valid.insert(stamp)
            if let gone = valid.randomElement(using: &random), Bool.random(using: &random) { valid.remove(gone) }
            if stamp % 97 == 0 {
                heap.removeAll { valid.contains($0.stamp) }
                #expect(heap.count == valid.count)
            }
            let least = heap.least { valid.contains($0.stamp) }
            #expect(least?.dueMs == model.filter { valid.contains($0.stamp) }.map(\.dueMs).min())
        }
    }
}
