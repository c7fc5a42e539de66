import TestSupport
import Testing

@testable import Calls

@Suite struct HeartbeatQueueTests {
    @Test func theFirstBeatIsAtOnceAndTheNextAfterTheInterval() {
        var queue = HeartbeatQueue(intervalMs: 100)
        queue.came([1], nowMs: 0)
        #expect(queue.due(nowMs: 0, max: 9) == [[1]])
        #expect(queue.due(nowMs: 99, max: 9) == [])
        #expect(queue.due(nowMs: 100, max: 9) == [[1]])
    }

    @Test func aUserIsBeatenForOnceHoweverManyConnections() {
        var queue = HeartbeatQueue(intervalMs: 100)
        queue.came([1], nowMs: 0)
        queue.came([1], nowMs: 0)
        #expect(queue.due(nowMs: 0, max: 9) == [[1]])
        queue.left([1])
        #expect(queue.due(nowMs: 100, max: 9) == [[1]])
        queue.left([1])
        #expect(queue.due(nowMs: 200, max: 9) == [])
        #expect(queue.count == 0)
    }

    @Test func aDepartureIsNotedOnceAndNotOfWhoIsBack() {
        var queue = HeartbeatQueue(intervalMs: 100, notesDepartures: true)
        for user in UInt8(1)...3 { queue.came([user], nowMs: 0) }
        queue.came([1], nowMs: 0)
        #expect(queue.due(nowMs: 0, max: 9) == [[1], [2], [3]])
        for user in UInt8(1)...3 { queue.left([user]) }
        queue.came([3], nowMs: 1)
        #expect(queue.departures(max: 9) == [[2]])
        #expect(queue.departures(max: 9) == [])
        queue.left([1])
        queue.left([3])
        #expect(queue.departures(max: 1) == [[1]])
        #expect(queue.departures(max: 1) == [[3]])
        var other = HeartbeatQueue(intervalMs: 100)
        other.came([1], nowMs: 0)
        other.left([1])
        #expect(other.departures(max: 9) == [])
    }

    /// A user who came and went caused a call for each time.
    @Test func comingAndGoingCostsOneDeparture() {
        var queue = HeartbeatQueue(intervalMs: 100, notesDepartures: true)
        queue.came([1], nowMs: 0)
        queue.left([1])
        #expect(queue.departures(max: 9) == [])
        queue.came([1], nowMs: 0)
        #expect(queue.due(nowMs: 0, max: 9) == [[1]])
        for _ in 0..<5 {
            queue.left([1])
            queue.came([1], nowMs: 1)
        }
        queue.left([1])
        #expect(queue.departures(max: 9) == [[1]])
        #expect(queue.departures(max: 9) == [])
    }

    @Test func whoComesBackIsBeatenForOnceAnInterval() {
        var queue = HeartbeatQueue(intervalMs: 100)
        for _ in 0..<5 {
            queue.came([1], nowMs: 0)
            queue.left([1])
        }
        queue.came([1], nowMs: 0)
        #expect(queue.due(nowMs: 0, max: 9) == [[1]])
        #expect(queue.due(nowMs: 100, max: 9) == [[1]])
    }

    @Test func aCrowdOfNewcomersDoesNotMakeOthersLate() {
        var queue = HeartbeatQueue(intervalMs: 100)
        queue.came([1], nowMs: 0)
        _ = queue.due(nowMs: 0, max: 9)
        for number in UInt8(2)...50 { queue.came([number], nowMs: 50) }
        #expect(queue.due(nowMs: 100, max: 1) == [[1]])
    }

    /// A history by chance against a model that remembers everything: nobody present waits longer than an interval
    /// and a step, and nobody absent is beaten for.
    @Test func noUserWaitsTooLong() {
        let seed: UInt64 = 20_261_107
        var seeded = Seeded(seed)
        var queue = HeartbeatQueue(intervalMs: 100)
        var connections: [UInt8: Int] = [:]
        var lastMs: [UInt8: Int] = [:]
        for nowMs in stride(from: 0, to: 20_000, by: 10) {
            for _ in 0..<Int.random(in: 0...5, using: &seeded) {
                let user = UInt8.random(in: 0...30, using: &seeded)
                if Bool.random(using: &seeded) {
                    queue.came([user], nowMs: nowMs)
                    connections[user, default: 0] += 1
                    if connections[user] == 1 { lastMs[user] = nowMs - 100 }
                } else if connections[user, default: 0] > 0 {
                    queue.left([user])
                    connections[user, default: 0] -= 1
                }
            }
            for user in queue.due(nowMs: nowMs, max: 1_000) {
                #expect(connections[user[0], default: 0] > 0)
                #expect(nowMs - lastMs[user[0], default: 0] >= 100)
                lastMs[user[0]] = nowMs
            }
            for (user, count) in connections where count > 0 {
                #expect(nowMs - lastMs[user, default: 0] <= 110, "seed \(seed)")
            }
        }
    }
}
