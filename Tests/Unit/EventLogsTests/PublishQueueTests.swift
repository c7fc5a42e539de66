import Commands
import Core
import TestSupport
import Testing

@testable import EventLogs

@Suite struct PublishQueueTests {
    private typealias Queue = PublishQueue<Int>

    private static func topic(_ number: Int) throws -> Topic { try #require(Topic("shop:\(number)")) }

    private static func event(_ number: Int, bytes: Int = 2) throws -> PublishCall.Event {
        PublishCall.Event(try #require(EventName("e\(number)")), data: Array(repeating: 0x20, count: bytes), id: nil)
    }

    private static func number(_ topic: Topic) throws -> Int {
        try #require(Int(String(decoding: topic.id, as: UTF8.self)))
    }

    /// Adds a numbered event to topic 1.
    private static func add(_ queue: inout Queue, _ numbers: some Sequence<Int>, bytes: Int = 2) throws -> [Bool] {
        try numbers.map { queue.add(try topic(1), try event($0, bytes: bytes), $0, deadlineMs: 100) }
    }

    /// The numbers of the next group to be called, `nil` when there is none.
    private static func call(_ queue: inout Queue) -> Queue.Group? {
        guard case .call(let group)? = queue.next(nowMs: 0) else { return nil }
        return group
    }

    @Test func aLonePublishGoesAtOnce() throws {
        var queue = Queue(eventsMax: 10, bytesMax: 100)
        #expect(try Self.add(&queue, [1]) == [true])
        #expect(Self.call(&queue)?.publishers == [1])
        #expect(queue.waiting == 0 && queue.waitingBytes == 0)
    }

    @Test func whatComesWhileACallIsInFlightGoesTogether() throws {
        var queue = Queue(eventsMax: 10, bytesMax: 100)
        _ = try Self.add(&queue, [1])
        #expect(Self.call(&queue)?.publishers == [1])
        _ = try Self.add(&queue, [2, 3, 4])
        #expect(Self.call(&queue) == nil)
        queue.finished(try Self.topic(1))
        let group = Self.call(&queue)
        #expect(group?.publishers == [2, 3, 4])
        #expect(group?.events.map { $0.name.description } == ["e2", "e3", "e4"])
        queue.finished(try Self.topic(1))
        #expect(Self.call(&queue) == nil)
    }

    @Test func topicsDoNotWaitForEachOther() throws {
        var queue = Queue(eventsMax: 10, bytesMax: 100)
        for number in [2, 1, 3] {
            _ = queue.add(try Self.topic(number), try Self.event(number), number, deadlineMs: 100)
        }
        #expect((0..<3).compactMap { _ in Self.call(&queue)?.publishers } == [[2], [1], [3]])
    }

    @Test func aCallIsBoundedInEventsAndBytes() throws {
        var queue = Queue(eventsMax: 10_000, bytesMax: 10_000_000)
        _ = try Self.add(&queue, 0..<600)
        for expected in [0..<256, 256..<512, 512..<600] {
            #expect(Self.call(&queue)?.publishers == Array(expected))
            queue.finished(try Self.topic(1))
        }
        _ = try Self.add(&queue, 0..<5, bytes: 131_072)
        for expected in [[0, 1], [2, 3], [4]] {
            #expect(Self.call(&queue)?.publishers == expected)
            queue.finished(try Self.topic(1))
        }
        _ = try Self.add(&queue, 0..<2, bytes: 300_000)
        #expect(Self.call(&queue)?.publishers == [0])
    }

    @Test func tooMuchIsNotTaken() throws {
        var queue = Queue(eventsMax: 3, bytesMax: 100)
        #expect(try Self.add(&queue, 0..<4) == [true, true, true, false])
        #expect(Self.call(&queue)?.publishers == [0, 1, 2])
        #expect(try Self.add(&queue, [4], bytes: 101) == [false])
        #expect(try Self.add(&queue, [5], bytes: 100) == [true])
        #expect(try Self.add(&queue, [6], bytes: 1) == [false])
    }

    /// One publisher's mistake is not the others'.
    @Test func aRefusedGroupIsTriedOneByOneBeforeTheRest() throws {
        var queue = Queue(eventsMax: 10, bytesMax: 100)
        _ = try Self.add(&queue, [1, 2, 3])
        let group = Self.call(&queue)
        _ = try Self.add(&queue, [4])
        guard let group else { return }
        queue.refused(group)
        #expect(queue.waiting == 4)
        for expected in [[1], [2], [3]] {
            #expect(Self.call(&queue)?.publishers == expected)
            #expect(Self.call(&queue) == nil)
            _ = try Self.add(&queue, expected.map { $0 + 10 })
            queue.finished(try Self.topic(1))
        }
        #expect(Self.call(&queue)?.publishers == [4, 11, 12, 13])
    }

    @Test func nothingJoinsAnEventThatIsTriedAlone() throws {
        var queue = Queue(eventsMax: 10, bytesMax: 100)
        _ = try Self.add(&queue, [1, 2])
        guard let group = Self.call(&queue) else { return }
        queue.refused(group)
        _ = try Self.add(&queue, [3])
        #expect(Self.call(&queue)?.publishers == [1])
        queue.finished(try Self.topic(1))
        #expect(Self.call(&queue)?.publishers == [2])
        queue.finished(try Self.topic(1))
        #expect(Self.call(&queue)?.publishers == [3])
    }

    @Test func whoWaitedTooLongIsToldAndTheTopicGoesOn() throws {
        var queue = Queue(eventsMax: 10, bytesMax: 100)
        _ = try Self.add(&queue, [1])
        _ = Self.call(&queue)
        _ = queue.add(try Self.topic(1), try Self.event(2), 2, deadlineMs: 50)
        queue.finished(try Self.topic(1))
        guard case .expire(let late)? = queue.next(nowMs: 50) else {
            Issue.record("nothing expired")
            return
        }
        #expect(late.publishers == [2])
        _ = try Self.add(&queue, [3])
        #expect(Self.call(&queue)?.publishers == [3])
    }

    /// Histories by chance: each event is called in the order of its topic, one call at a time, none is lost, and the
    /// sums come back to nothing.
    @Test func nothingIsLostOrOvertaken() throws {
        let seed: UInt64 = 20_261_106
        var seeded = Seeded(seed)
        var queue = Queue(eventsMax: 200, bytesMax: 4_000)
        var flights: [Int: Queue.Group] = [:]
        var (added, done): ([Int: [Int]], [Int: [Int]]) = ([:], [:])
        for number in 0..<20_000 {
            let topic = Int.random(in: 0..<5, using: &seeded)
            switch Int.random(in: 0..<4, using: &seeded) {
            case 0, 1:
                let bytes = Int.random(in: 2...40, using: &seeded)
                if queue.add(try Self.topic(topic), try Self.event(number, bytes: bytes), number, deadlineMs: 1) {
                    added[topic, default: []].append(number)
                }
            case 2:
                guard let group = flights.removeValue(forKey: topic) else { continue }
                if group.events.count > 1 && Int.random(in: 0..<8, using: &seeded) == 0 {
                    queue.refused(group)
                } else {
                    done[topic, default: []] += group.publishers
                    queue.finished(group.topic)
                }
            default:
                while let group = Self.call(&queue) {
                    let index = try Self.number(group.topic)
                    #expect(flights.updateValue(group, forKey: index) == nil, "seed \(seed)")
                }
            }
        }
        while !flights.isEmpty || queue.waiting > 0 {
            for (topic, group) in flights {
                done[topic, default: []] += group.publishers
                queue.finished(group.topic)
            }
            flights = [:]
            while let group = Self.call(&queue) {
                flights[try Self.number(group.topic)] = group
            }
        }
        #expect(done == added, "seed \(seed)")
        #expect(queue.waitingBytes == 0, "seed \(seed)")
    }
}

extension PublishQueue {
    /// A queue in which so many events and bytes of data wait at most, with calls of the default size.
    init(eventsMax: Int, bytesMax: Int) {
        var limits = Limits()
        (limits.redisInFlightMax, limits.publishWaitingBytesMax) = (eventsMax, bytesMax)
        self.init(Bounds(limits))
    }
}
