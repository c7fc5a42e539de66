import Testing

@testable import switchboard_bench

@Suite struct LoadTests {
    private func plan(rate: Int, topics: Int = 1, members: Int = 10) -> LoadPlan {
        LoadPlan(startUs: 1_000_000, warmUpSeconds: 2, seconds: 3, rate: rate, topics: topics, members: members)
    }

    /// As many publishes are measured as the rate says, whatever does not divide.
    @Test(arguments: [1, 3, 7, 20, 999, 1_600, 999_983]) func thePlanHoldsTheRate(_ rate: Int) {
        let plan = plan(rate: rate)
        #expect(plan.count == 5 * rate)
        var measured = 0
        for index in 0..<min(plan.count, 10_000) where plan.isMeasured(plan.dueUs(index)) { measured += 1 }
        if plan.count <= 10_000 { #expect(measured == 3 * rate) }
        #expect(plan.dueUs(2 * rate) == plan.measureUs)
        #expect(plan.dueUs(plan.count) == plan.endUs)
        #expect(!plan.isMeasured(plan.endUs) && plan.isMeasured(plan.measureUs) && !plan.isMeasured(plan.measureUs - 1))
    }

    @Test func secondsOfTheWindow() {
        let plan = plan(rate: 1)
        #expect(plan.second(plan.measureUs - 1) == -1)
        #expect(plan.second(plan.measureUs) == 0)
        #expect(plan.second(plan.measureUs + 999_999) == 0)
        #expect(plan.second(plan.measureUs + 1_000_000) == 1)
    }

    /// Every member is counted once, and numbers go on from one load to the next without one used twice.
    @Test(arguments: [1, 2, 3, 7, 10, 13]) func topicsAndNumbers(_ topics: Int) {
        var plan = plan(rate: 11, topics: topics)
        #expect((0..<topics).reduce(0) { $0 + plan.members(ofTopic: $1) } == 10)
        var last = [Int](repeating: 0, count: topics)
        for _ in 0..<2 {
            for index in 0..<plan.count {
                let (topic, sequence) = (plan.topic(index), plan.sequence(index))
                #expect(sequence > last[topic])
                last[topic] = sequence
            }
            plan.sequenceBase = plan.nextSequenceBase
        }
    }

    @Test func theLedgerKnowsEachNumber() {
        var ledger = SequenceLedger()
        let verdicts = [1, 2, 2, 5, 4, 4, 3, 3, 1, 9, 7, 6, 8, 10, 7].map { ledger.take($0) }
        #expect(
            verdicts == [
                .inOrder, .inOrder, .duplicate, .inOrder, .late, .duplicate, .late, .duplicate, .duplicate, .inOrder,
                .late, .late, .late, .inOrder, .duplicate,
            ])
    }

    /// Numbers in any order, some twice, some never: each counts as new once.
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func theLedgerCountsEachOnce(_ seed: UInt64) {
        var state = seed
        func random(_ below: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % below
        }
        var (ledger, seen, new) = (SequenceLedger(), Set<Int>(), 0)
        for _ in 0..<500 {
            let number = 1 + random(200)
            let verdict = ledger.take(number)
            #expect(verdict.isNew == seen.insert(number).inserted, "seed \(seed), \(number)")
            if verdict.isNew { new += 1 }
        }
        #expect(new == seen.count)
    }

    /// The search ends within 5 % below the limit, whatever it begins with.
    @Test(arguments: [1, 20, 400, 1_000_000], [1, 19, 777, 1_600, 54_321]) func theSearchFindsTheLimit(
        _ first: Int, _ limit: Int
    ) {
        var search = RateSearch(from: first)
        var steps = 0
        while let rate = search.next {
            search.told(held: rate <= limit)
            steps += 1
            guard steps < 100 else { break }
        }
        #expect(search.highest <= limit && search.highest >= limit - limit / 15 - 1)
        #expect(steps < 40)
    }

    @Test func aTargetThatHoldsNothingEndsTheSearch() {
        var search = RateSearch(from: 100)
        var steps = 0
        while search.next != nil, steps < 100 {
            search.told(held: false)
            steps += 1
        }
        #expect(search.next == nil && search.highest == 0)
    }
}
