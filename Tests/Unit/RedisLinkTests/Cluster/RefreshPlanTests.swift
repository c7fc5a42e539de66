import RedisLink
import Testing

@Suite struct RefreshPlanTests {
    @Test func aStormOfHintsLeadsToOneQuestionASecond() {
        var plan = RefreshPlan(pauseMs: 1_000, intervalMs: 15_000, nowMs: 0)
        var asked: [Int] = []
        for nowMs in 0..<5_000 {
            plan.hint(nil, nowMs: nowMs)
            guard plan.nextMs <= nowMs else { continue }
            plan.began(nowMs: nowMs)
            plan.ended(isSettled: true, nowMs: nowMs, jitter: 0)
            asked.append(nowMs)
        }
        #expect(asked == [0, 1_000, 2_000, 3_000, 4_000])
    }

    @Test func aHintDuringAQuestionLeadsToAnother() {
        var plan = RefreshPlan(pauseMs: 1_000, intervalMs: 15_000, nowMs: 0)
        plan.began(nowMs: 0)
        #expect(plan.nextMs == Int.max)
        let address = ClusterAddress(host: "a", port: 1)
        plan.hint(address, nowMs: 5)
        plan.ended(isSettled: true, nowMs: 10, jitter: 0)
        #expect(plan.nextMs == 1_000)
        #expect(plan.round([ClusterAddress(host: "b", port: 2), address]).first == address)
    }

    @Test func whoIsNotServedAsksAgainSoonAndWhoIsWaitsLong() {
        var plan = RefreshPlan(pauseMs: 1_000, intervalMs: 16_000, nowMs: 0)
        plan.began(nowMs: 0)
        plan.ended(isSettled: false, nowMs: 300, jitter: 0.5)
        #expect(plan.nextMs == 1_000)
        plan.began(nowMs: 1_000)
        plan.ended(isSettled: true, nowMs: 1_001, jitter: 0.5)
        #expect(plan.nextMs == 1_001 + 16_000 - 2_000)
        plan.hint(nil, nowMs: 1_500)
        #expect(plan.nextMs == 2_000)
    }

    @Test func aStrangerIsNotAskedWhoeverNamesIt() {
        var plan = RefreshPlan(pauseMs: 1_000, intervalMs: 15_000, nowMs: 0)
        let known = [ClusterAddress(host: "a", port: 1), ClusterAddress(host: "b", port: 2)]
        plan.hint(ClusterAddress(host: "elsewhere", port: 3), nowMs: 0)
        #expect(plan.round(known + known) == known)
        plan.hint(known[1], nowMs: 0)
        #expect(plan.round(known + known) == [known[1], known[0]])
        plan.began(nowMs: 0)
        #expect(plan.round(known) == known)
    }
}
