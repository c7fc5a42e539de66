import Testing

@testable import Worker

/// How often ids are looked at of which nobody tells a change.
@Suite struct SweepTests {
    private func queue() -> RefreshQueue {
        var queue = RefreshQueue(
            RefreshQueue.Limits(
                windowsMs: [20], sweepMs: 5_000, sweepMaxMs: 300_000, inFlightMax: 4_096, knownMax: 10_000))
        queue.hold(Array(0..<Partition.ids), nowMs: 0)
        return queue
    }

    /// Runs what is due, each run taking no time, up to `untilMs`; when each began.
    private func run(_ queue: inout RefreshQueue, from fromMs: Int, until untilMs: Int) -> [Int] {
        var begun: [Int] = []
        var nowMs = fromMs
        while nowMs <= untilMs {
            while let run = queue.next(nowMs: nowMs) {
                begun.append(nowMs)
                queue.finished(run.slot, .done(idle: false, againMs: nil), nowMs: nowMs)
            }
            nowMs = max(queue.nextDueMs() ?? Int.max, nowMs + 1)
        }
        return begun
    }

    /// Every ghost shop was swept each five seconds, for ever: 3,000 of them cost Redis 720 calls a second.
    @Test func whatDoesNotChangeIsSweptLessAndLess() {
        var queue = queue()
        queue.trustChanges(true, nowMs: 0)
        for number in 0..<3_000 { queue.found(refresh: 0, id: Array("ghost-\(number)".utf8), nowMs: 0) }
        let begun = run(&queue, from: 0, until: 1_200_000)
        let lastMinutes = begun.filter { $0 > 600_000 }.count
        // Twice in ten minutes at the least often, and a quarter more for their own periods.
        #expect(lastMinutes >= 3_000 * 2 && lastMinutes <= 3_000 * 3)
        #expect(begun.filter { $0 <= 60_000 }.count >= 3_000 * 4, "the first minute is looked at closely")
    }

    @Test func withoutEventsEveryIDIsSweptAsBefore() {
        var queue = queue()
        queue.found(refresh: 0, id: [65], nowMs: 0)
        let begun = run(&queue, from: 0, until: 600_000)
        for (before, after) in zip(begun, begun.dropFirst()) { #expect(after - before <= 5_000) }
        #expect(begun.count > 119)
    }

    @Test func aChangeMakesSweepsFrequentAgain() {
        var queue = queue()
        queue.trustChanges(true, nowMs: 0)
        queue.found(refresh: 0, id: [65], nowMs: 0)
        _ = run(&queue, from: 0, until: 1_000_000)
        queue.changed(refresh: 0, id: [65], nowMs: 1_000_000)
        let begun = run(&queue, from: 1_000_000, until: 1_012_000)
        #expect(begun.first == 1_000_020 && begun.count >= 2)
    }

    @Test func whenChangesAreNoLongerToldEverythingIsLookedAt() {
        var queue = queue()
        queue.trustChanges(true, nowMs: 0)
        queue.found(refresh: 0, id: [65], nowMs: 0)
        _ = run(&queue, from: 0, until: 1_000_000)
        queue.trustChanges(false, nowMs: 1_000_000)
        let begun = run(&queue, from: 1_000_000, until: 1_020_000)
        #expect(begun.first == 1_000_020 && begun.count >= 4)
        for (before, after) in zip(begun, begun.dropFirst()) { #expect(after - before <= 5_000) }
    }

    @Test func whatWasQuietWhileNothingWasToldIsLookedAtBeforeItRests() {
        var queue = queue()
        queue.found(refresh: 0, id: [65], nowMs: 0)
        _ = run(&queue, from: 0, until: 600_000)
        queue.trustChanges(true, nowMs: 600_000)
        let begun = run(&queue, from: 600_000, until: 616_000)
        #expect(begun.first == 600_020 && begun.count >= 3)
    }

    @Test func aWishIsKeptBetweenRareSweeps() throws {
        var queue = queue()
        queue.trustChanges(true, nowMs: 0)
        queue.found(refresh: 0, id: [65], nowMs: 0)
        _ = run(&queue, from: 0, until: 1_000_000)
        queue.changed(refresh: 0, id: [65], nowMs: 1_000_000)
        let next = queue.next(nowMs: 1_000_020)
        let run = try #require(next)
        queue.finished(run.slot, .done(idle: false, againMs: 1_003_000), nowMs: 1_000_020)
        let dueMs = queue.nextDueMs()
        #expect(dueMs == 1_003_000)
    }
}
