import RedisLink
import Testing

@testable import Worker

@Suite struct OutboxSumTests {
    /// While a master of a Cluster was away the entries of its slots were in no figure, and none seemed to wait.
    @Test func aSlotThatDoesNotAnswerCountsAsBefore() {
        var sum = OutboxSum()
        sum.take(OutboxFigures(entries: 3, oldestMs: 500), of: 1, nowMs: 1_000)
        sum.take(OutboxFigures(entries: 2, oldestMs: 100), of: 2, nowMs: 1_000)
        #expect(sum.sum(of: [1, 2], nowMs: 1_000) == OutboxFigures(entries: 5, oldestMs: 500))
        sum.take(OutboxFigures(entries: 1, oldestMs: 200), of: 2, nowMs: 3_000)
        #expect(sum.sum(of: [1, 2], nowMs: 3_000) == OutboxFigures(entries: 4, oldestMs: 2_500))
        sum.take(OutboxFigures(entries: 0, oldestMs: 0), of: 1, nowMs: 5_000)
        #expect(sum.sum(of: [1], nowMs: 7_000) == OutboxFigures(entries: 0, oldestMs: 0))
    }

    @Test func aSlotWithoutEntriesIsForgotten() {
        var sum = OutboxSum()
        sum.take(OutboxFigures(entries: 3, oldestMs: 500), of: 1, nowMs: 1_000)
        #expect(sum.sum(of: [2], nowMs: 1_000) == OutboxFigures(entries: 0, oldestMs: 0))
        #expect(sum.sum(of: [1], nowMs: 1_000) == OutboxFigures(entries: 0, oldestMs: 0))
    }
}
