import Core
import Rights
import TestSupport
import Testing

@testable import EventLogs

@Suite struct ReadQueueTests {
    static func user(_ number: Int) -> Payer { .user(Array("u\(number)".utf8)) }
    static func address(_ number: Int) -> Payer {
        .user(Array("page-\(number)".utf8))
    }

    static func isTaken<Read>(_ addition: ReadQueue<Read>.Addition) -> Bool {
        if case .taken = addition { return true }
        return false
    }

    /// Sends the next read.
    static func next(_ queue: inout ReadQueue<Int>) -> Int? {
        queue.next(payShared: { _ in true })?.read
    }

    /// Takes everything that may go, and finishes it.
    static func drain(_ queue: inout ReadQueue<Int>, payShared: (Int) -> Bool = { _ in true }) -> [Int] {
        var sent: [Int] = []
        while let (read, weightUs) = queue.next(payShared: payShared) {
            sent.append(read)
            queue.finished(weightUs: weightUs)
        }
        return sent
    }

    /// Reads that are in flight lie before the publishes that are sent after them.
    @Test func theWeightInFlightIsBounded() {
        var queue = ReadQueue<Int>(inFlightUsMax: 5_000, waitingUsMax: 1_000_000)
        for read in 0..<10 { _ = queue.add(read, .known, ReadQueueTests.user(1), weightUs: 2_000, deadlineMs: 100) }
        var inFlight: [Int] = []
        while let (_, weightUs) = queue.next(payShared: { _ in true }) { inFlight.append(weightUs) }
        #expect(inFlight == [2_000, 2_000])
        queue.finished(weightUs: 2_000)
        #expect(ReadQueueTests.next(&queue) == 2)
        #expect(ReadQueueTests.next(&queue) == nil)
        // One that is heavier than the bound goes alone.
        var heavy = ReadQueue<Int>(inFlightUsMax: 5_000, waitingUsMax: 1_000_000)
        _ = heavy.add(1, .known, ReadQueueTests.user(1), weightUs: 50_000, deadlineMs: 100)
        _ = heavy.add(2, .known, ReadQueueTests.user(2), weightUs: 1, deadlineMs: 100)
        #expect(ReadQueueTests.next(&heavy) == 1)
        #expect(ReadQueueTests.next(&heavy) == nil)
    }

    /// One caller who asks for a hundred reads must not make another wait for them.
    @Test func payersHaveTheirTurns() {
        var queue = ReadQueue<Int>(inFlightUsMax: 1_000, waitingUsMax: 1_000_000)
        for read in 0..<100 { _ = queue.add(read, .known, ReadQueueTests.user(1), weightUs: 1_000, deadlineMs: 100) }
        _ = queue.add(1_000, .known, ReadQueueTests.user(2), weightUs: 1_000, deadlineMs: 100)
        #expect(ReadQueueTests.drain(&queue).firstIndex(of: 1_000) == 1)
    }

    @Test func onePayerCannotFillTheQueue() {
        var queue = ReadQueue<Int>(inFlightUsMax: 1, waitingUsMax: 100_000)
        let taken = (0..<100).count { read in
            ReadQueueTests.isTaken(
                queue.add(read, .known, ReadQueueTests.user(1), weightUs: 1_000, deadlineMs: 100))
        }
        #expect(taken == 25)
        let other = queue.add(0, .known, ReadQueueTests.user(2), weightUs: 1_000, deadlineMs: 100)
        #expect(ReadQueueTests.isTaken(other))
    }

    /// When too much waits, anonymous callers are refused first.
    @Test func anonymousReadsGiveWayToKnownCallers() {
        var queue = ReadQueue<Int>(inFlightUsMax: 1, waitingUsMax: 10_000)
        for read in 0..<10 {
            _ = queue.add(read, .anonymous, ReadQueueTests.address(read), weightUs: 1_000, deadlineMs: 100)
        }
        guard case .refused = queue.add(10, .anonymous, ReadQueueTests.address(10), weightUs: 1_000, deadlineMs: 100)
        else {
            Issue.record("an anonymous read has no right to another's place")
            return
        }
        var displaced: Set<Int> = []
        for read in 100..<112 {
            let addition = queue.add(read, .known, ReadQueueTests.user(read), weightUs: 1_000, deadlineMs: 100)
            if case .displaced(let other) = addition { displaced.insert(other) }
        }
        #expect(displaced == Set(0..<10))
        #expect(queue.waiting == 10, "known callers do not displace each other")
        #expect(queue.waitingUs == 10_000)
    }

    @Test func anonymousReadsWaitForTheirShare() {
        var queue = ReadQueue<Int>(inFlightUsMax: 10_000, waitingUsMax: 100_000)
        _ = queue.add(1, .anonymous, ReadQueueTests.address(1), weightUs: 1_000, deadlineMs: 100)
        _ = queue.add(2, .known, ReadQueueTests.user(1), weightUs: 1_000, deadlineMs: 100)
        _ = queue.add(3, .gateway, .crowd, weightUs: 1_000, deadlineMs: 100)
        #expect(ReadQueueTests.drain(&queue, payShared: { _ in false }) == [3, 2])
        #expect(ReadQueueTests.drain(&queue) == [1])
    }

    @Test func knownCallersDoNotStarveAnonymousOnes() {
        var queue = ReadQueue<Int>(inFlightUsMax: 1_000, waitingUsMax: 1_000_000)
        for read in 0..<12 { _ = queue.add(read, .known, ReadQueueTests.user(read), weightUs: 1_000, deadlineMs: 100) }
        for read in 100..<103 {
            _ = queue.add(read, .anonymous, ReadQueueTests.address(read), weightUs: 1_000, deadlineMs: 100)
        }
        #expect(ReadQueueTests.drain(&queue).prefix(8) == [0, 1, 2, 100, 3, 4, 5, 101])
    }

    @Test func whatWaitsTooLongIsTakenOut() {
        var queue = ReadQueue<Int>(inFlightUsMax: 1, waitingUsMax: 100_000)
        _ = queue.add(1, .anonymous, ReadQueueTests.address(1), weightUs: 1_000, deadlineMs: 100)
        _ = queue.add(2, .anonymous, ReadQueueTests.address(1), weightUs: 1_000, deadlineMs: 200)
        _ = queue.add(3, .gateway, .crowd, weightUs: 1_000, deadlineMs: 100)
        #expect(queue.expire(nowMs: 99) == [])
        #expect(queue.expire(nowMs: 100) == [3, 1])
        #expect(queue.waitingUs == 1_000)
        #expect(ReadQueueTests.drain(&queue) == [2])
        #expect(queue.waiting == 0 && queue.waitingUs == 0 && queue.inFlightUs == 0)
    }

    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func nothingIsLostOrSentTwice(_ seed: UInt64) {
        var random = Seeded(seed)
        var queue = ReadQueue<Int>(inFlightUsMax: 3_000, waitingUsMax: 20_000)
        var (taken, ended): (Set<Int>, Set<Int>) = ([], [])
        var inFlight: [Int] = []
        for step in 0..<3_000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let place = ReadQueue<Int>.Class.allCases[Int.random(in: 0..<3, using: &random)]
                let payer =
                    place == .known
                    ? ReadQueueTests.user(.random(in: 0..<9, using: &random))
                    : ReadQueueTests.address(.random(in: 0..<9, using: &random))
                let weightUs = Int.random(in: 1...2_000, using: &random)
                switch queue.add(step, place, payer, weightUs: weightUs, deadlineMs: step + 200) {
                case .taken: taken.insert(step)
                case .displaced(let other):
                    taken.insert(step)
                    #expect(ended.insert(other).inserted, "seed \(seed)")
                case .refused: break
                }
            case 5..<8:
                let pays = Bool.random(using: &random)
                if let (read, weightUs) = queue.next(payShared: { _ in pays }) {
                    #expect(ended.insert(read).inserted, "seed \(seed)")
                    inFlight.append(weightUs)
                }
                #expect(inFlight.count <= 1 || inFlight.reduce(0, +) <= 3_000, "seed \(seed)")
            case 8:
                if !inFlight.isEmpty { queue.finished(weightUs: inFlight.removeFirst()) }
            default:
                for read in queue.expire(nowMs: step) { #expect(ended.insert(read).inserted, "seed \(seed)") }
            }
            #expect(ended.isSubset(of: taken) && queue.waiting == taken.count - ended.count, "seed \(seed)")
        }
        for weightUs in inFlight { queue.finished(weightUs: weightUs) }
        ended.formUnion(ReadQueueTests.drain(&queue))
        #expect(ended == taken && queue.inFlightUs == 0 && queue.waitingUs == 0, "seed \(seed)")
    }
}

@Suite struct SharedReadsTests {
    /// Reads that are the same at the same time are one, and nobody is answered with what was read before he asked.
    @Test func whoAsksWhileAReadIsUnderWayGetsTheNext() {
        var shared = SharedReads<String, Int>()
        #expect(shared.add(1, "top") == true)
        #expect(shared.isCoalesced("top"))
        #expect(shared.add(2, "top") == false)
        #expect(shared.add(9, "other") == true)
        shared.sent("top")
        #expect(!shared.isCoalesced("top"), "what is under way was sent before")
        #expect(shared.add(3, "top") == false)
        #expect(shared.isCoalesced("top"))
        #expect(shared.add(4, "top") == false)
        let first = shared.answered("top")
        #expect(first.waiters == [1, 2] && first.next == 3)
        shared.sent("top")
        let second = shared.answered("top")
        #expect(second.waiters == [3, 4] && second.next == nil)
        #expect(shared.add(5, "top") == true, "anew")
        #expect(shared.refused("top") == [5])
        #expect(!shared.isCoalesced("top"))
    }
}
