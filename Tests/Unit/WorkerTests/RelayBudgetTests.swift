import Testing

@testable import Worker

@Suite struct RelayBudgetTests {
    @Test func aPauseIsAsLongAsTheRoundBeforeIt() {
        var budget = RelayBudget(percent: 50)
        for _ in 0..<10 { budget.began(nowMs: 100) }
        #expect(budget.admits(nowMs: 100))
        for _ in 0..<10 { budget.ended(nowMs: 108) }
        #expect(!budget.admits(nowMs: 115) && budget.admits(nowMs: 116) && budget.pausesUntilMs == 116)
    }

    @Test func aRoundHasAnEndWhateverWaits() {
        var budget = RelayBudget(percent: 25)
        for _ in 0..<RelayBudget.roundMax {
            #expect(budget.admits(nowMs: 0))
            budget.began(nowMs: 0)
        }
        #expect(!budget.admits(nowMs: 1_000))
        // A quarter is never answered.
        for _ in 0..<(RelayBudget.roundMax * 3 / 4) { budget.ended(nowMs: 10) }
        #expect(!budget.admits(nowMs: 39) && budget.admits(nowMs: 40))
    }

    @Test func aPauseIsBoundedAndNoneFollowsAtAHundredPercent() {
        var budget = RelayBudget(percent: 1)
        budget.began(nowMs: 0)
        budget.ended(nowMs: 60_000)
        #expect(budget.pausesUntilMs == 60_000 + RelayBudget.pauseMaxMs)
        var free = RelayBudget(percent: 100)
        free.began(nowMs: 0)
        free.ended(nowMs: 500)
        #expect(free.admits(nowMs: 500))
    }
}
