import RedisLink
import TestSupport
import Testing

@Suite struct CallPipelineTests {
    @Test func repliesComeBackInTheOrderOfCommands() {
        var pipeline = CallPipeline<Int>(inFlightMax: 3)
        #expect(pipeline.replied() == nil)
        let taken = (0..<4).map { pipeline.add($0, deadlineMs: 100) }
        #expect(taken == [true, true, true, false])
        #expect(pipeline.count == 3)
        #expect(pipeline.replied() == 0)
        let accepted = pipeline.add(4, deadlineMs: 100)
        #expect(accepted)
        #expect(pipeline.drain() == [1, 2, 4])
        #expect(pipeline.count == 0)
        #expect(pipeline.nextDeadlineMs == nil)
    }

    @Test func aDeadlineIsReachedAtItsMillisecond() {
        var pipeline = CallPipeline<Int>(inFlightMax: 3)
        #expect(!pipeline.expired(nowMs: .max))
        _ = pipeline.add(0, deadlineMs: 50)
        #expect(!pipeline.expired(nowMs: 49))
        #expect(pipeline.expired(nowMs: 50))
        _ = pipeline.replied()
        #expect(!pipeline.expired(nowMs: .max))
    }

    @Test func aShortDeadlineBehindALongOneCounts() {
        var pipeline = CallPipeline<Int>(inFlightMax: 3)
        _ = pipeline.add(0, deadlineMs: 1_000)
        _ = pipeline.add(1, deadlineMs: 50)
        _ = pipeline.add(2, deadlineMs: 200)
        #expect(pipeline.nextDeadlineMs == 50)
        _ = pipeline.replied()
        #expect(pipeline.nextDeadlineMs == 50)
        _ = pipeline.replied()
        #expect(pipeline.nextDeadlineMs == 200)
    }

    @Test(arguments: 1...50 as ClosedRange<UInt64>)
    func itIsAQueueWithAMinimum(_ seed: UInt64) {
        var random = Seeded(seed)
        var pipeline = CallPipeline<Int>(inFlightMax: 40)
        var model: [(Int, Int)] = []
        for step in 0..<2_000 {
            switch Int.random(in: 0..<100, using: &random) {
            case 0:
                #expect(pipeline.drain() == model.map(\.0), "seed \(seed)")
                model = []
            case 1..<55:
                let deadline = Int.random(in: 0..<500, using: &random)
                let accepted = pipeline.add(step, deadlineMs: deadline)
                #expect(accepted == (model.count < 40), "seed \(seed)")
                if accepted { model.append((step, deadline)) }
            default:
                let expected = model.isEmpty ? nil : model.removeFirst().0
                #expect(pipeline.replied() == expected, "seed \(seed)")
            }
            #expect(pipeline.nextDeadlineMs == model.map(\.1).min(), "seed \(seed)")
            #expect(pipeline.count == model.count)
        }
    }
}
