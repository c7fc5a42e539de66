import TestSupport
import Testing

@testable import Worker

@Suite struct RelayQueueTests {
    private typealias Queue = RelayQueue<Int>

    private func queue(
        inFlightMax: Int = 5, retryMs: ClosedRange<Int> = 10...80, payerInFlightMax: Int = 4, followUpsMax: Int = 64
    ) -> Queue {
        Queue(
            inFlightMax: inFlightMax, retryMinMs: retryMs.lowerBound, retryMaxMs: retryMs.upperBound,
            payerInFlightMax: payerInFlightMax, followUpsMax: followUpsMax)
    }

    private func line(_ payer: String, _ target: UInt64 = 1, isFollowUp: Bool = false) -> Queue.Line {
        Queue.Line(payer: RelayPayer(name: Array(payer.utf8), isFollowUp: isFollowUp), target: target)
    }

    /// Entries of random payers and targets fail and succeed at random; each line's order is checked against what was added.
    @Test(arguments: 0..<16) func entriesOfAPayerForATargetKeepTheirOrderOverRetries(seed: UInt64) {
        var random = Seeded(seed)
        var queue = queue(followUpsMax: 8)
        var added: [Queue.Line: [Int]] = [:]
        var done: [Queue.Line: [Int]] = [:]
        var flights: [Queue.Entry] = []
        var (nowMs, number, left) = (0, 0, 0)
        while number < 2_000 || left > 0 {
            nowMs += Int.random(in: 0...5, using: &random)
            for _ in 0..<Int.random(in: 0...6, using: &random) where number < 2_000 {
                let line = line(
                    ["user:a", "user:b", "service:s", ""][Int.random(in: 0..<4, using: &random)],
                    UInt64.random(in: 0..<4, using: &random), isFollowUp: Bool.random(using: &random))
                queue.add(Queue.Entry(line: line, item: number))
                added[line, default: []].append(number)
                (number, left) = (number + 1, left + 1)
            }
            while let entry = queue.next(nowMs: nowMs, usersMay: true) { flights.append(entry) }
            #expect(flights.count <= 5 && queue.inFlight == flights.count && queue.count == left)
            #expect(Set(flights.map(\.line)).count == flights.count, "two of one line, seed \(seed)")
            guard !flights.isEmpty else {
                if let due = queue.nextDueMs { nowMs = max(nowMs, due) }
                continue
            }
            let entry = flights.remove(at: Int.random(in: flights.indices, using: &random))
            if Int.random(in: 0..<4, using: &random) == 0 {
                queue.failed(entry.line, nowMs: nowMs)
            } else {
                done[entry.line, default: []].append(entry.item)
                left -= 1
                queue.finished(entry.line)
            }
        }
        #expect(done == added && queue.nextDueMs == nil && !queue.hasUsers)
    }

    @Test func pausesDoubleUpToTheirBoundAndAreForgottenBySuccess() {
        var queue = queue(retryMs: 10...35)
        for item in 0..<2 { queue.add(Queue.Entry(line: line("user:a"), item: item)) }
        var nowMs = 0
        var pauses: [Int] = []
        for _ in 0..<4 {
            let tried = queue.next(nowMs: nowMs, usersMay: true)
            #expect(tried?.item == 0)
            queue.failed(line("user:a"), nowMs: nowMs)
            let none = queue.next(nowMs: nowMs, usersMay: true)
            #expect(none == nil)
            pauses.append((queue.nextDueMs ?? 0) - nowMs)
            nowMs = queue.nextDueMs ?? 0
        }
        #expect(pauses == [10, 20, 35, 35])
        _ = queue.next(nowMs: nowMs, usersMay: true)
        queue.finished(line("user:a"))
        let next = queue.next(nowMs: nowMs, usersMay: true)
        #expect(next?.item == 1)
        queue.failed(line("user:a"), nowMs: nowMs)
        #expect(queue.nextDueMs == nowMs + 10)
    }

    @Test func aLineThatWaitsHoldsNoOther() {
        var queue = queue(inFlightMax: 1, retryMs: 1_000...1_000)
        for target in 1...3 { queue.add(Queue.Entry(line: line("user:a", UInt64(target)), item: target)) }
        var items: [Int?] = []
        items.append(queue.next(nowMs: 0, usersMay: true)?.item)
        queue.failed(line("user:a", 1), nowMs: 0)
        items.append(queue.next(nowMs: 0, usersMay: true)?.item)
        queue.finished(line("user:a", 2))
        items.append(queue.next(nowMs: 0, usersMay: true)?.item)
        #expect(items == [1, 2, 3])
    }

    /// A payer with a thousand entries gets one turn where another with one entry gets one.
    @Test func payersTakeTurns() {
        var queue = queue(inFlightMax: 1)
        for item in 0..<1_000 { queue.add(Queue.Entry(line: line("user:flood", UInt64(item)), item: item)) }
        queue.add(Queue.Entry(line: line("user:b"), item: -1))
        queue.add(Queue.Entry(line: line("service:s"), item: -2))
        var items: [Int] = []
        for _ in 0..<4 {
            guard let entry = queue.next(nowMs: 0, usersMay: true) else { break }
            items.append(entry.item)
            queue.finished(entry.line)
        }
        #expect(items == [-2, 0, -1, 1])
    }

    /// One payer alone does not fill what may be in flight, whatever it has ready.
    @Test func aPayerHasFewInFlight() {
        var queue = queue(inFlightMax: 50, payerInFlightMax: 3)
        for item in 0..<20 { queue.add(Queue.Entry(line: line("service:s", UInt64(item)), item: item)) }
        var begun: [Queue.Entry] = []
        while let entry = queue.next(nowMs: 0, usersMay: true) { begun.append(entry) }
        #expect(begun.map(\.item) == [0, 1, 2])
        queue.failed(begun[0].line, nowMs: 0)
        queue.finished(begun[1].line)
        var more: [Int] = []
        while let entry = queue.next(nowMs: 0, usersMay: true) { more.append(entry.item) }
        #expect(more == [3, 4])
    }

    @Test func servicesGoOnWhileUsersMayNot() {
        var queue = queue()
        queue.add(Queue.Entry(line: line("user:a"), item: 1))
        queue.add(Queue.Entry(line: line("service:s"), item: 2))
        let first = queue.next(nowMs: 0, usersMay: false)
        let second = queue.next(nowMs: 0, usersMay: false)
        #expect(first?.item == 2 && second == nil && queue.hasUsers)
        let third = queue.next(nowMs: 0, usersMay: true)
        #expect(third?.item == 1 && !queue.hasUsers)
    }

    /// The entries that a payer has caused are done before more of its own are begun, so they never grow without an end.
    @Test func aPayerWaitsForWhatItHasCaused() {
        var queue = queue(followUpsMax: 2)
        for item in 1...2 {
            queue.add(Queue.Entry(line: line("user:a", UInt64(item), isFollowUp: true), item: item))
        }
        queue.add(Queue.Entry(line: line("user:a", 9), item: 9))
        queue.add(Queue.Entry(line: line("user:b", 8), item: 8))
        var begun: [Int] = []
        while let entry = queue.next(nowMs: 0, usersMay: true) { begun.append(entry.item) }
        #expect(begun == [1, 8, 2], "the payer's own entry waits, another payer's does not")
        queue.finished(line("user:a", 1, isFollowUp: true))
        let held = queue.next(nowMs: 0, usersMay: true)
        #expect(held?.item == 9)
    }
}
