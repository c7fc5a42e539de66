import Core
import Testing

@testable import Rights

@Suite struct WeightBudgetTests {
    static let sizes = WeightBudget.Sizes(
        address: RateLimit(perSecond: 1_000, burst: 5_000), user: RateLimit(perSecond: 2_000, burst: 20_000),
        service: RateLimit(perSecond: 100_000, burst: 200_000), anonymous: RateLimit(perSecond: 3_000, burst: 3_000),
        payersMax: 4)

    static func address(_ text: String) -> Payer {
        Caller.anonymous.payer(from: IPAddress(text: text.utf8))
    }

    @Test func aPayerGetsItsShareAndTheTrueWait() {
        var budget = WeightBudget(WeightBudgetTests.sizes, nowMs: 0)
        let payer = WeightBudgetTests.address("192.0.2.1")
        #expect(budget.pay(payer, us: 5_000, nowMs: 0) == nil)
        let waitMs = budget.pay(payer, us: 500, nowMs: 0) ?? -1
        #expect(waitMs == 500)
        #expect(budget.pay(payer, us: 500, nowMs: waitMs - 1) == 1)
        #expect(budget.pay(payer, us: 500, nowMs: waitMs) == nil, "the wait is true")
        #expect(budget.pay(WeightBudgetTests.address("192.0.2.2"), us: 5_000, nowMs: 0) == nil, "another's")
        #expect(budget.pay(.user(Array("u1".utf8)), us: 20_000, nowMs: 0) == nil)
    }

    /// One address of a provider's customer is a /64; each of its addresses alone would be a budget without end.
    @Test func addressesOfOneNetworkPayTogether() {
        var budget = WeightBudget(WeightBudgetTests.sizes, nowMs: 0)
        #expect(budget.pay(WeightBudgetTests.address("2001:db8::1"), us: 5_000, nowMs: 0) == nil)
        #expect(budget.pay(WeightBudgetTests.address("2001:db8::2"), us: 1, nowMs: 0) != nil)
        #expect(budget.pay(WeightBudgetTests.address("2001:db8:0:1::1"), us: 5_000, nowMs: 0) == nil)
    }

    @Test func whatCostsMoreThanABurstLeavesADebt() {
        var budget = WeightBudget(WeightBudgetTests.sizes, nowMs: 0)
        let payer = WeightBudgetTests.address("192.0.2.1")
        #expect(budget.pay(payer, us: 9_000, nowMs: 0) == nil)
        #expect(budget.pay(payer, us: 1, nowMs: 4_000) == 1, "4 s later the debt is paid")
        #expect(budget.pay(payer, us: 1, nowMs: 4_001) == nil)
        budget.charge(payer, us: .max, nowMs: 10_000)
        let waitMs = budget.pay(payer, us: 1, nowMs: 10_000) ?? -1
        #expect(waitMs <= 51_000, "a debt ends: \(waitMs)")
    }

    /// Callers without a token share a bucket, whatever their number.
    @Test func anonymousCallersTogetherAreBounded() {
        var budget = WeightBudget(WeightBudgetTests.sizes, nowMs: 0)
        var paid = 0
        for nowMs in 0..<10_000 where budget.payShared(us: 100, nowMs: nowMs) == nil { paid += 100 }
        #expect((32_000...33_000).contains(paid), "3,000 at once and 3,000 a second for 10 s: \(paid)")
        budget.charge(WeightBudgetTests.address("192.0.2.1"), us: 3_000, nowMs: 10_000)
        #expect(budget.sharedWaitMs(us: 1, nowMs: 10_000) > 900, "what is charged afterwards counts, too")
    }

    /// A flood of addresses must not take away a place, or everybody could reset his own bucket.
    @Test func makingOthersComeResetsNothing() {
        var budget = WeightBudget(WeightBudgetTests.sizes, nowMs: 0)
        let payer = WeightBudgetTests.address("192.0.2.1")
        #expect(budget.pay(payer, us: 5_000, nowMs: 0) == nil)
        for number in 2..<200 {
            _ = budget.pay(WeightBudgetTests.address("192.0.2.\(number)"), us: 5_000, nowMs: 0)
        }
        #expect(budget.pay(payer, us: 1, nowMs: 0) != nil)
        // Those without a place share one bucket, and are not refused for good.
        let late = WeightBudgetTests.address("198.51.100.1")
        let waitMs = budget.pay(late, us: 1_000, nowMs: 0) ?? -1
        #expect(budget.pay(late, us: 1_000, nowMs: waitMs) == nil)
    }

    @Test func ratesCountByCommandAndPayer() {
        var rates = CallRates(payersMax: 10)
        let six = [CallRates.Rate(calls: 6, seconds: 60)]
        let (one, two) = (Payer.user(Array("u1".utf8)), Payer.user(Array("u2".utf8)))
        for _ in 0..<6 { #expect(rates.take("vote", one, six, nowMs: 0) == nil) }
        #expect(rates.take("vote", one, six, nowMs: 0) == 10_000)
        #expect(rates.take("vote", two, six, nowMs: 0) == nil)
        #expect(rates.take("skip", one, six, nowMs: 0) == nil)
        #expect(rates.take("vote", one, six, nowMs: 10_000) == nil)
        #expect(rates.take("vote", one, six, nowMs: 10_000) == 10_000)
    }

    /// A call that one of its rates refuses is counted by none.
    @Test func allRatesOfACallAreKept() {
        var rates = CallRates(payersMax: 10)
        let both = [CallRates.Rate(calls: 2, seconds: 1), CallRates.Rate(calls: 3, seconds: 3_600)]
        let user = Payer.user(Array("u1".utf8))
        #expect(rates.take("vote", user, both, nowMs: 0) == nil)
        #expect(rates.take("vote", user, both, nowMs: 0) == nil)
        #expect(rates.take("vote", user, both, nowMs: 0) == 500)
        #expect(rates.take("vote", user, both, nowMs: 500) == nil, "the third of the hour")
        #expect((1_194_000...1_196_000).contains(rates.take("vote", user, both, nowMs: 5_000) ?? 0))
    }

    /// Calls that came in at once were counted once: nineteen of twenty first messages were free.
    @Test func callsThatAreMarkedAtOnceLeaveADebt() {
        var rates = CallRates(payersMax: 8)
        let (payer, rate) = (Payer.user(Array("u1".utf8)), [CallRates.Rate(calls: 2, seconds: 20)])
        for _ in 0..<10 { rates.charge("send", payer, rate, nowMs: 0) }
        #expect(rates.waitMs("send", payer, rate, nowMs: 20_000) > 0, "two calls of ten are worth 20 s")
        #expect(rates.waitMs("send", payer, rate, nowMs: 100_000) == 0)
    }
}
