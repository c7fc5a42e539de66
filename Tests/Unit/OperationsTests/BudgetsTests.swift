import Core
import Rights
import Testing

@testable import Commands
@testable import Operations

/// Callers that ask most are counted by what they were granted, not by what was refused to them.
@Suite struct BudgetsTests {
    private let talkers = Talkers()
    private let ann = Payer.user(Array("ann".utf8))

    private func budgets(_ change: (inout Limits) -> Void) -> Budgets {
        var limits = Limits()
        change(&limits)
        return Budgets(limits, talkers: talkers, nowMs: 0)
    }

    private var charged: Int { talkers.all(.user, nowMs: 0).reduce(0) { $0 + $1.figures.redisUs } }

    @Test func aReadBeyondTheBudgetIsNotCounted() {
        let budgets = budgets { $0.userRedisUsPerSecond = 10 }
        #expect(budgets.payOwn(ann, us: 100, nowMs: 0) == nil && charged == 100)
        #expect(budgets.payOwn(ann, us: 50, nowMs: 0) != nil && budgets.pay(ann, us: 50, nowMs: 0) != nil)
        #expect(charged == 100)
    }

    /// The time of a command was counted although its rate refused it afterwards, and was given back.
    @Test func aCommandThatItsRateRefusesIsNotCounted() throws {
        let budgets = budgets { _ in }
        let rate = try CallRate(header: "1/60 s user")
        let bill = Budgets.Bill(
            command: "say", rates: [rate], role: .user, us: 70,
            kept: KeptEvent(bytes: 0, eventsMax: 0, bytesMax: 0, seconds: 1, seenBytes: 0, seenSeconds: 1),
            namespace: Array("shop".utf8))
        #expect(budgets.pay(ann, bill, nowMs: 0) == nil && charged == 70)
        #expect(budgets.pay(ann, bill, nowMs: 0) != nil && charged == 70)
    }
}
