import TestSupport
import Testing

@testable import Worker

/// A day of shops in a few thousand steps of a virtual clock, against rules that say what may happen.
@Suite struct RefreshQueueTests {
    private static let windows = [20, 300]

    private func queue(sweepMs: Int = 5_000, inFlightMax: Int = 8, knownMax: Int = 1_000) -> RefreshQueue {
        var queue = RefreshQueue(
            RefreshQueue.Limits(
                windowsMs: RefreshQueueTests.windows, sweepMs: sweepMs, sweepMaxMs: 300_000, inFlightMax: inFlightMax,
                knownMax: knownMax))
        queue.hold(Array(0..<Partition.ids), nowMs: 0)
        return queue
    }

    private struct Name: Hashable {
        let refresh: Int
        let id: [UInt8]
    }

    /// What the rules remember of one refresh of one id.
    private struct Memory {
        var unseenSinceMs: Int?
        var startedMs: Int?
        var endedMs: Int?
        var isInFlight = false
    }

    @Test(arguments: 0..<24) func everyChangeIsFollowedByARunAndNoRuleIsBroken(seed: UInt64) {
        var random = Seeded(seed)
        var queue = queue()
        var memories: [Name: Memory] = [:]
        var flights: [(run: RefreshQueue.Run, endMs: Int)] = []
        let ids = (0..<30).map { Array("shop-\($0)".utf8) }
        var nowMs = 0
        let quietMs = 20_000
        while nowMs < quietMs + 20_000 {
            nowMs += Int.random(in: 1...15, using: &random)
            // Runs end, some of them badly, until it is quiet.
            for (index, flight) in flights.enumerated().reversed() where flight.endMs <= nowMs {
                flights.remove(at: index)
                let name = Name(refresh: flight.run.refresh, id: flight.run.id)
                let fails = nowMs < quietMs && Int.random(in: 0..<5, using: &random) == 0
                memories[name]?.isInFlight = false
                if fails, memories[name]?.unseenSinceMs == nil { memories[name]?.unseenSinceMs = nowMs }
                queue.finished(flight.run.slot, fails ? .failed : .done(idle: false, againMs: nil), nowMs: nowMs)
            }
            if nowMs < quietMs {
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    let name = Name(
                        refresh: Int.random(in: 0...1, using: &random), id: ids.randomElement(using: &random) ?? [])
                    queue.changed(refresh: name.refresh, id: name.id, nowMs: nowMs)
                    var memory = memories[name, default: Memory()]
                    memory.unseenSinceMs = memory.unseenSinceMs ?? nowMs
                    memories[name] = memory
                }
            }
            while let run = queue.next(nowMs: nowMs) {
                let name = Name(refresh: run.refresh, id: run.id)
                var memory = memories[name, default: Memory()]
                #expect(!memory.isInFlight, "two runs in flight, seed \(seed)")
                if let started = memory.startedMs {
                    #expect(nowMs - started >= RefreshQueueTests.windows[run.refresh], "too soon, seed \(seed)")
                }
                memory = Memory(unseenSinceMs: nil, startedMs: nowMs, isInFlight: true)
                memories[name] = memory
                flights.append((run, nowMs + Int.random(in: 1...60, using: &random)))
            }
            #expect(queue.inFlight == flights.count && queue.inFlight <= 8)
            // What is due and not begun waits for a place only.
            if let due = queue.nextDueMs() { #expect(due > nowMs) }
        }
        #expect(memories.count == 60)
        for (name, memory) in memories {
            #expect(memory.unseenSinceMs == nil, "a change without a run: \(name), seed \(seed)")
            #expect(nowMs - (memory.startedMs ?? 0) <= 5_000 + 500, "not swept: \(name), seed \(seed)")
        }
    }

    @Test func changesWithinAWindowMakeOneRun() {
        var queue = queue()
        for nowMs in 100..<120 { queue.changed(refresh: 0, id: [65], nowMs: nowMs) }
        let result1 = queue.next(nowMs: 119)
        #expect(result1 == nil)
        let run = queue.next(nowMs: 120)
        #expect(run?.id == [65] && run?.dueMs == 120)
        let result2 = queue.next(nowMs: 10_000)
        #expect(result2 == nil)
    }

    @Test func aChangeDuringARunMakesAnotherAfterIt() throws {
        var queue = queue()
        queue.changed(refresh: 0, id: [65], nowMs: 0)
        let found1 = queue.next(nowMs: 20)
        let run = try #require(found1)
        queue.changed(refresh: 0, id: [65], nowMs: 21)
        let result3 = queue.next(nowMs: 500)
        #expect(result3 == nil)
        queue.finished(run.slot, .done(idle: true, againMs: nil), nowMs: 500)
        let result4 = queue.next(nowMs: 500)
        #expect(result4?.id == [65])
    }

    @Test func idleEndsTheSweepAndForgets() throws {
        var queue = queue()
        queue.changed(refresh: 0, id: [65], nowMs: 0)
        let found2 = queue.next(nowMs: 20)
        let run = try #require(found2)
        queue.finished(run.slot, .done(idle: true, againMs: nil), nowMs: 30)
        let result5 = queue.nextDueMs()
        #expect(queue.count == 0 && result5 == nil)
    }

    @Test func aWishToRunAgainIsGranted() throws {
        var queue = queue()
        queue.changed(refresh: 0, id: [65], nowMs: 0)
        let found3 = queue.next(nowMs: 20)
        let first = try #require(found3)
        queue.finished(first.slot, .done(idle: true, againMs: 90_000), nowMs: 30)
        let result6 = queue.nextDueMs()
        #expect(queue.count == 1 && result6 == 90_000)
        let found4 = queue.next(nowMs: 90_000)
        let second = try #require(found4)
        // Within the window of the run before: as soon as the window is over.
        queue.finished(second.slot, .done(idle: false, againMs: 90_001), nowMs: 90_001)
        let result7 = queue.nextDueMs()
        #expect(result7 == 90_020)
    }

    @Test func failuresPauseLongerAndLonger() throws {
        var queue = queue()
        queue.changed(refresh: 0, id: [65], nowMs: 0)
        var nowMs = 20
        var pauses: [Int] = []
        for _ in 0..<9 {
            let found5 = queue.next(nowMs: nowMs)
            let run = try #require(found5)
            queue.finished(run.slot, .failed, nowMs: nowMs)
            let found6 = queue.nextDueMs()
            let due = try #require(found6)
            pauses.append(due - nowMs)
            nowMs = due
        }
        #expect(pauses == [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000])
    }

    @Test func onlyHeldPartitionsRunAndAGainRunsWhatIsKnown() {
        var queue = queue()
        let id = Array("shop".utf8)
        queue.leave([Partition.of(id)])
        queue.changed(refresh: 0, id: id, nowMs: 0)
        let result8 = queue.next(nowMs: 10_000)
        #expect(result8 == nil && queue.count == 1)
        queue.hold([Partition.of(id)], nowMs: 10_000)
        let result9 = queue.next(nowMs: 10_020)
        #expect(result9?.id == id)
        queue.leave([Partition.of(id)])
        let result10 = queue.next(nowMs: 60_000)
        #expect(result10 == nil)
    }

    @Test func aDiscoveryForgetsWhatItDoesNotMeetOfOthers() {
        var queue = queue()
        let (mine, theirs, gone) = (Array("a".utf8), Array("bb".utf8), Array("ccc".utf8))
        #expect(Set([mine, theirs, gone].map { Partition.of($0) }).count == 3)
        queue.leave([Partition.of(theirs), Partition.of(gone)])
        for id in [mine, theirs, gone] { queue.found(refresh: 0, id: id, nowMs: 0) }
        queue.discoveryBegan()
        queue.found(refresh: 0, id: theirs, nowMs: 1)
        queue.discoveryEnded()
        #expect(queue.count == 2)
        queue.hold([Partition.of(gone), Partition.of(theirs)], nowMs: 2)
        var ids: Set<[UInt8]> = []
        while let run = queue.next(nowMs: 100) { ids.insert(run.id) }
        #expect(ids == [mine, theirs])
    }

    @Test func whatIsTooMuchIsCounted() {
        var queue = queue(knownMax: 3)
        for byte in UInt8(65)..<75 { queue.changed(refresh: 0, id: [byte], nowMs: 0) }
        #expect(queue.count == 3 && queue.overflows == 7)
    }

    @Test func sweepsAndChangesDoNotStarveEachOther() throws {
        var queue = queue(sweepMs: 100, inFlightMax: 4)
        for number in 0..<200 { queue.found(refresh: 0, id: Array("s\(number)".utf8), nowMs: 0) }
        var nowMs = 20
        while let run = queue.next(nowMs: nowMs) {
            queue.finished(run.slot, .done(idle: false, againMs: nil), nowMs: nowMs)
        }
        // All sweeps are overdue, and changes keep coming.
        nowMs = 1_000
        var (swept, awaited) = (0, 0)
        for number in 0..<400 {
            queue.changed(refresh: 1, id: Array("c\(number)".utf8), nowMs: nowMs)
            nowMs += 300
            var runs: [RefreshQueue.Run] = []
            while let run = queue.next(nowMs: nowMs) { runs.append(run) }
            for run in runs {
                if run.refresh == 0 { swept += 1 } else { awaited += 1 }
                queue.finished(run.slot, .done(idle: run.refresh == 1, againMs: nil), nowMs: nowMs)
            }
        }
        #expect(awaited == 400 && swept >= 400)
    }
}
