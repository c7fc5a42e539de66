import RedisLink
import TestSupport
import Testing

@Suite struct CallPipelineTests {
    /// What a reply came to: the call's number, or that nobody waited for it.
    enum Outcome: Equatable {
        case answered(Int)
        case swallowed
    }

    static func outcome(_ receiver: CallPipeline<Int>.Receiver?) -> Outcome? {
        switch receiver {
        case .waiting(let number): .answered(number)
        case .abandoned: .swallowed
        case nil: nil
        }
    }

    @Test func repliesComeBackInTheOrderOfCommands() {
        var pipeline = CallPipeline<Int>(inFlightMax: 3)
        #expect(pipeline.replied(nowMs: 0) == nil)
        let taken = (0..<4).map { pipeline.add($0, deadlineMs: 100, nowMs: 0) }
        #expect(taken == [true, true, true, false])
        #expect(pipeline.count == 3)
        #expect(CallPipelineTests.outcome(pipeline.replied(nowMs: 0)) == .answered(0))
        let accepted = pipeline.add(4, deadlineMs: 100, nowMs: 0)
        #expect(accepted)
        #expect(pipeline.drain() == [1, 2, 4])
        #expect(pipeline.count == 0)
        #expect(pipeline.nextDeadlineMs == nil)
    }

    @Test func aDeadlineIsReachedAtItsMillisecond() {
        var pipeline = CallPipeline<Int>(inFlightMax: 3)
        #expect(pipeline.expire(nowMs: .max).isEmpty)
        _ = pipeline.add(0, deadlineMs: 50, nowMs: 0)
        #expect(pipeline.expire(nowMs: 49).isEmpty)
        #expect(pipeline.expire(nowMs: 50) == [0])
        #expect(pipeline.expire(nowMs: .max).isEmpty, "once")
    }

    /// One call that missed its deadline made every other call of its link fail, and the link was dialled again.
    @Test func oneLateReplyFailsNoOtherCall() {
        var pipeline = CallPipeline<Int>(inFlightMax: 3)
        _ = pipeline.add(0, deadlineMs: 50, nowMs: 0)
        _ = pipeline.add(1, deadlineMs: 90, nowMs: 40)
        #expect(pipeline.expire(nowMs: 60) == [0])
        #expect(pipeline.count == 2, "its place is kept")
        #expect(pipeline.nextDeadlineMs == 90)
        #expect(CallPipelineTests.outcome(pipeline.replied(nowMs: 70)) == .swallowed)
        #expect(CallPipelineTests.outcome(pipeline.replied(nowMs: 70)) == .answered(1))
        #expect(pipeline.replied(nowMs: 70) == nil)
    }

    /// Calls given up still count, or a server that answers nothing would be sent calls without end.
    @Test func abandonedCallsKeepTheirPlace() {
        var pipeline = CallPipeline<Int>(inFlightMax: 2)
        _ = pipeline.add(0, deadlineMs: 50, nowMs: 0)
        _ = pipeline.add(1, deadlineMs: 50, nowMs: 0)
        #expect(pipeline.expire(nowMs: 50) == [0, 1])
        let full = pipeline.add(2, deadlineMs: 100, nowMs: 50)
        #expect(!full)
        _ = pipeline.replied(nowMs: 60)
        let free = pipeline.add(2, deadlineMs: 100, nowMs: 60)
        #expect(free)
        #expect(pipeline.drain() == [2], "nobody is told twice")
    }

    /// The connection is doubtful by what has not come at all, not by the age of one call.
    @Test func aConnectionIsQuietSinceTheLastReply() {
        var pipeline = CallPipeline<Int>(inFlightMax: 3)
        #expect(pipeline.quietSinceMs == nil)
        _ = pipeline.add(0, deadlineMs: 50, nowMs: 10)
        _ = pipeline.add(1, deadlineMs: 50, nowMs: 20)
        #expect(pipeline.quietSinceMs == 10)
        _ = pipeline.expire(nowMs: 50)
        #expect(pipeline.quietSinceMs == 10, "giving up is no reply")
        _ = pipeline.replied(nowMs: 70)
        #expect(pipeline.quietSinceMs == 70)
        _ = pipeline.replied(nowMs: 80)
        #expect(pipeline.quietSinceMs == nil, "nothing is owed")
        _ = pipeline.add(2, deadlineMs: 1_000, nowMs: 900)
        #expect(pipeline.quietSinceMs == 900, "an idle connection owes nothing")
    }

    @Test func aShortDeadlineBehindALongOneCounts() {
        var pipeline = CallPipeline<Int>(inFlightMax: 3)
        _ = pipeline.add(0, deadlineMs: 1_000, nowMs: 0)
        _ = pipeline.add(1, deadlineMs: 50, nowMs: 0)
        _ = pipeline.add(2, deadlineMs: 200, nowMs: 0)
        #expect(pipeline.nextDeadlineMs == 50)
        #expect(pipeline.expire(nowMs: 60) == [1])
        #expect(pipeline.nextDeadlineMs == 200)
        _ = pipeline.replied(nowMs: 60)
        _ = pipeline.replied(nowMs: 60)
        #expect(pipeline.nextDeadlineMs == 200)
    }

    @Test(arguments: 1...50 as ClosedRange<UInt64>)
    func itIsAQueueWithAMinimum(_ seed: UInt64) {
        var random = Seeded(seed)
        var pipeline = CallPipeline<Int>(inFlightMax: 40)
        var model: [(number: Int?, deadlineMs: Int)] = []
        var nowMs = 0
        for step in 0..<2_000 {
            nowMs += Int.random(in: 0..<8, using: &random)
            switch Int.random(in: 0..<100, using: &random) {
            case 0:
                #expect(pipeline.drain() == model.compactMap(\.number), "seed \(seed)")
                model = []
            case 1..<10:
                let expired = model.filter { $0.number != nil && $0.deadlineMs <= nowMs }.compactMap(\.number)
                #expect(pipeline.expire(nowMs: nowMs) == expired, "seed \(seed)")
                for index in model.indices where model[index].deadlineMs <= nowMs { model[index].number = nil }
            case 10..<58:
                let deadlineMs = nowMs + Int.random(in: 0..<500, using: &random)
                let accepted = pipeline.add(step, deadlineMs: deadlineMs, nowMs: nowMs)
                #expect(accepted == (model.count < 40), "seed \(seed)")
                if accepted { model.append((step, deadlineMs)) }
            default:
                let expected =
                    model.isEmpty ? nil : model.removeFirst().number.map { Outcome.answered($0) } ?? .swallowed
                #expect(CallPipelineTests.outcome(pipeline.replied(nowMs: nowMs)) == expected, "seed \(seed)")
            }
            #expect(
                pipeline.nextDeadlineMs == model.filter { $0.number != nil }.map(\.deadlineMs).min(), "seed \(seed)")
            #expect(pipeline.count == model.count)
        }
    }
}
