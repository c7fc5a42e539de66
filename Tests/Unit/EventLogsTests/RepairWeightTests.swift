import Testing

@testable import EventLogs

@Suite struct RepairWeightTests {
    /// Fifty repairs were in flight however little each of them took, and after the death of a master with 33,000 topics
    /// the gateway waited for answers most of the time.
    @Test func itFollowsWhatRepairsCostAndNeverFallsBelowTheLeast() {
        var weight = RepairWeight()
        #expect(weight.us == RepairWeight.unknownUs)
        for _ in 0..<100 { weight.took(eventsUs: 0) }
        #expect((RepairWeight.leastUs...RepairWeight.leastUs + 7).contains(weight.us))
        for _ in 0..<100 { weight.took(eventsUs: 1_600) }
        #expect((1_640...1_660).contains(weight.us))
        for _ in 0..<100 { weight.took(eventsUs: -1) }
        #expect(weight.us >= RepairWeight.leastUs)
    }

    @Test func oneHeavyRepairAmongLightOnesChangesLittle() {
        var weight = RepairWeight()
        for _ in 0..<100 { weight.took(eventsUs: 0) }
        weight.took(eventsUs: 1_600)
        #expect(weight.us < 300)
        for _ in 0..<100 { weight.took(eventsUs: 0) }
        #expect(weight.us < 70)
    }
}
