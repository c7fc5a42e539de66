import TestSupport
import Testing

@testable import Worker

@Suite struct RelayQueueTests {
    /// Entries of random lanes fail and succeed at random; each lane's order is checked against what was added.
    @Test(arguments: 0..<16) func lanesKeepTheirOrderOverRetries(seed: UInt64) {
        var random = Seeded(seed)
        var queue = RelayQueue<Int>(inFlightMax: 5, retryMinMs: 10, retryMaxMs: 80)
        var added: [UInt64: [Int]] = [:]
        var done: [UInt64: [Int]] = [:]
        var flights: [RelayQueue<Int>.Entry] = []
        var (nowMs, number, left) = (0, 0, 0)
        while number < 2_000 || left > 0 {
            nowMs += Int.random(in: 0...5, using: &random)
            for _ in 0..<Int.random(in: 0...6, using: &random) where number < 2_000 {
                let lane = UInt64.random(in: 0..<12, using: &random)
                queue.add(RelayQueue.Entry(id: [], lane: lane, item: number))
                added[lane, default: []].append(number)
                (number, left) = (number + 1, left + 1)
            }
            while let entry = queue.next(nowMs: nowMs) { flights.append(entry) }
            #expect(flights.count <= 5 && queue.inFlight == flights.count && queue.count == left)
            #expect(Set(flights.map(\.lane)).count == flights.count, "two of one lane, seed \(seed)")
            guard !flights.isEmpty else {
                if let due = queue.nextDueMs { nowMs = max(nowMs, due) }
                continue
            }
            let entry = flights.remove(at: Int.random(in: flights.indices, using: &random))
            if Int.random(in: 0..<4, using: &random) == 0 {
                queue.failed(entry.lane, nowMs: nowMs)
            } else {
                done[entry.lane, default: []].append(entry.item)
                left -= 1
                queue.finished(entry.lane)
            }
        }
        #expect(done == added && queue.nextDueMs == nil)
    }

    @Test func pausesDoubleUpToTheirBoundAndAreForgottenBySuccess() {
        var queue = RelayQueue<Int>(inFlightMax: 5, retryMinMs: 10, retryMaxMs: 35)
        for item in 0..<2 { queue.add(RelayQueue.Entry(id: [], lane: 1, item: item)) }
        var nowMs = 0
        var pauses: [Int] = []
        for _ in 0..<4 {
            let result1 = queue.next(nowMs: nowMs)
            #expect(result1?.item == 0)
            queue.failed(1, nowMs: nowMs)
            let result2 = queue.next(nowMs: nowMs)
            #expect(result2 == nil)
            pauses.append((queue.nextDueMs ?? 0) - nowMs)
            nowMs = queue.nextDueMs ?? 0
        }
        #expect(pauses == [10, 20, 35, 35])
        _ = queue.next(nowMs: nowMs)
        queue.finished(1)
        let result3 = queue.next(nowMs: nowMs)
        #expect(result3?.item == 1)
        queue.failed(1, nowMs: nowMs)
        #expect(queue.nextDueMs == nowMs + 10)
    }

    @Test func aLaneThatWaitsHoldsNoOther() {
        var queue = RelayQueue<Int>(inFlightMax: 1, retryMinMs: 1_000, retryMaxMs: 1_000)
        for lane in 1...3 { queue.add(RelayQueue.Entry(id: [], lane: UInt64(lane), item: lane)) }
        let result4 = queue.next(nowMs: 0)
        #expect(result4?.item == 1)
        queue.failed(1, nowMs: 0)
        let result5 = queue.next(nowMs: 0)
        #expect(result5?.item == 2)
        queue.finished(2)
        let result6 = queue.next(nowMs: 0)
        #expect(result6?.item == 3)
    }
}
