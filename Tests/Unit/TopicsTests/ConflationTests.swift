import Core
import TestSupport
import Testing

@testable import Topics

/// A client's queue on its way through thinnings, and the client that reads it.
private final class ThinnedQueue {
    struct Entry {
        let topic: Int
        let offset: Int?
        let key: Int?
        let isFixed: Bool
        var isGap = false
    }

    static let topics = ["shop:1", "shop:2", "dj:1"].compactMap { Topic($0) }
    var random: Seeded
    var waiting: [Entry?] = []
    /// The last offset given to the queue, and the last one the client knows of, by topic.
    var given = Array(repeating: 0, count: 3)
    var known = Array(repeating: 0, count: 3)
    var counts = (queued: 0, read: 0, dropped: 0)

    init(_ random: Seeded) {
        self.random = random
    }

    func append() {
        let topic = Int.random(in: 0..<3, using: &random)
        guard Int.random(in: 0..<12, using: &random) > 0 else { return waiting.append(nil) }
        let isPlain = Int.random(in: 0..<5, using: &random) == 0
        if !isPlain { given[topic] += 1 }
        let key = Int.random(in: 0..<8, using: &random)
        counts.queued += 1
        waiting.append(
            Entry(
                topic: topic, offset: isPlain ? nil : given[topic], key: key > 5 ? nil : key,
                isFixed: Int.random(in: 0..<9, using: &random) == 0))
    }

    /// The client reads the first entry; says whether its rule holds.
    func read() -> Bool {
        guard !waiting.isEmpty, let entry = waiting.removeFirst() else { return true }
        if !entry.isGap { counts.read += 1 }
        guard let offset = entry.offset else { return true }
        defer { known[entry.topic] = offset }
        return entry.isGap ? offset > known[entry.topic] : offset == known[entry.topic] + 1
    }

    func thin() throws {
        let fates = Conflation.fates(
            try waiting.map { entry in
                try entry.map { entry in
                    let topic = ThinnedQueue.topics[entry.topic]
                    let name = try #require(EventName("e\(entry.key ?? 0)"))
                    let limits = JSON.Limits(depthMax: 8, elementsMax: 8)
                    let key = entry.key.flatMap { _ in
                        ConflationKey(topic: topic, event: name, data: [], by: .name, json: limits)
                    }
                    return Conflation.Waiting(
                        topic: topic, position: entry.offset.flatMap { Position(epoch: Array("a".utf8), offset: $0) },
                        key: key, isGap: entry.isGap, isFixed: entry.isFixed)
                }
            })
        #expect(fates.count == waiting.count)
        for (index, entry) in waiting.enumerated() where fates[index] != .keep {
            let entry = try #require(entry, "what belongs to no topic stays")
            #expect(!entry.isFixed)
            guard !entry.isGap else { continue }
            counts.dropped += 1
            let isReplaced = waiting[(index + 1)...].contains {
                $0?.topic == entry.topic && $0?.key == entry.key && $0?.isGap == false
            }
            #expect(entry.key != nil && isReplaced, "an event went that nothing newer replaces")
        }
        let old = waiting
        waiting = zip(old, fates).compactMap { entry, fate -> Entry?? in
            switch fate {
            case .keep: return .some(entry)
            case .drop: return nil
            case .gap(let position):
                return .some(
                    entry.map { Entry(topic: $0.topic, offset: position.offset, key: nil, isFixed: false, isGap: true) }
                )
            }
        }
        for (index, entry) in waiting.enumerated() {
            guard let entry, let key = entry.key, !entry.isFixed else { continue }
            #expect(
                !waiting[(index + 1)...].contains { $0?.topic == entry.topic && $0?.key == key },
                "an older event of a key stayed")
        }
    }
}

@Suite struct ConflationTests {
    @Test(arguments: 0..<200)
    func theClientsRuleHoldsThroughAnyHistory(_ seed: Int) throws {
        let queue = ThinnedQueue(Seeded(UInt64(seed)))
        for _ in 0..<400 {
            switch Int.random(in: 0..<20, using: &queue.random) {
            case 0..<12: queue.append()
            case 12..<19: #expect(queue.read(), "seed \(seed)")
            default: try queue.thin()
            }
        }
        while !queue.waiting.isEmpty { #expect(queue.read(), "seed \(seed)") }
        #expect(queue.known == queue.given, "the end of a hole was not told, seed \(seed)")
        #expect(queue.counts.queued == queue.counts.read + queue.counts.dropped, "seed \(seed)")
    }

    static let limits = JSON.Limits(depthMax: 8, elementsMax: 100)

    private func waiting(_ offset: Int, _ name: String, isFixed: Bool = false) throws -> Conflation.Waiting {
        let topic = try #require(Topic("shop:1"))
        let key = ConflationKey(
            topic: topic, event: try #require(EventName(name)), data: [], by: .name, json: ConflationTests.limits)
        return Conflation.Waiting(
            topic: topic, position: Position(epoch: Array("a".utf8), offset: offset), key: key, isFixed: isFixed)
    }

    @Test func oneGapTellsOfAWholeHole() throws {
        let fates = Conflation.fates([
            try waiting(1, "a"), try waiting(2, "b"), try waiting(3, "a"), nil, try waiting(4, "b"),
            try waiting(5, "b"), try waiting(6, "c"),
        ])
        let two = try #require(Position(epoch: Array("a".utf8), offset: 2))
        let four = try #require(Position(epoch: Array("a".utf8), offset: 4))
        #expect(fates == [.drop, .gap(two), .keep, .keep, .gap(four), .keep, .keep])
    }

    @Test func aKeyIsTopicNameAndTheMembersText() throws {
        let (one, two) = (try #require(Topic("dj:1")), try #require(Topic("dj:2")))
        let (update, added) = (try #require(EventName("queue:update")), try #require(EventName("track:added")))
        func key(_ topic: Topic, _ event: EventName, _ data: String, _ member: String = "trackId") -> ConflationKey? {
            ConflationKey(
                topic: topic, event: event, data: Array(data.utf8), by: .member(member), json: ConflationTests.limits)
        }
        let first = try #require(key(one, update, #"{"trackId":"t1","score":1}"#))
        #expect(first == key(one, update, #"{"score":2,"trackId":"t1"}"#))
        #expect(first.hashValue == key(one, update, #"{"score":2,"trackId":"t1"}"#)?.hashValue)
        #expect(first != key(one, update, #"{"trackId":"t2"}"#))
        #expect(first != key(two, update, #"{"trackId":"t1"}"#))
        #expect(first != key(one, added, #"{"trackId":"t1"}"#))
        #expect(key(one, update, #"{"score":1}"#) == nil)
        #expect(key(one, update, "no JSON") == nil)
    }
}
