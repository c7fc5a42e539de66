import TestSupport
import Testing

@testable import Operations

@Suite struct DrainPlanTests {
    /// When everybody is told and closed, in steps of 20 ms.
    private func run(
        _ count: Int, overMs: Int, _ random: inout Seeded
    ) -> (notified: [Int: Int], closed: [Int: Int], order: [Int]) {
        var plan = DrainPlan(Array(0..<count), nowMs: 500, overMs: overMs, using: &random)
        #expect(plan.step(nowMs: 400).notified.isEmpty)
        var notified: [Int: Int] = [:]
        var closed: [Int: Int] = [:]
        var order: [Int] = []
        for nowMs in stride(from: 500, through: 500 + overMs, by: 20) {
            let step = plan.step(nowMs: nowMs)
            for id in step.notified { #expect(notified.updateValue(nowMs, forKey: id) == nil, "told twice") }
            for id in step.closed { #expect(closed.updateValue(nowMs, forKey: id) == nil, "closed twice") }
            order += step.notified
            let again = plan.step(nowMs: nowMs)
            #expect(again.notified.isEmpty && again.closed.isEmpty)
        }
        #expect(plan.isOver)
        return (notified, closed, order)
    }

    @Test(arguments: [0, 1, 2, 7, 100, 9_999])
    func everybodyIsToldAndClosedOnce(_ count: Int) {
        var random = Seeded(UInt64(count))
        let (notified, closed, order) = run(count, overMs: 10_000, &random)
        #expect(notified.count == count && closed.count == count)
        if count > 50 { #expect(order != Array(0..<count), "not shuffled") }
        for (id, toldMs) in notified {
            #expect((480...520).contains((closed[id] ?? 0) - toldMs), "a notice of a twentieth")
        }
    }

    /// What a client does with its notice.
    enum Manner: CaseIterable {
        case leavesAtOnce, leavesAfterTheHint, returnsWhenClosed, returnsAfterTheHintWhenClosed, anyOfThese
    }

    /// The promise to the other nodes: at most one and a half times the even share in any tenth of the time.
    @Test(arguments: Manner.allCases, [(300, 6_000), (10_000, 20_000), (1_000, 1_000)])
    func clientsReturnAtAnEvenRate(_ manner: Manner, _ size: (count: Int, overMs: Int)) {
        var random = Seeded(UInt64(size.count))
        let (notified, closed, _) = run(size.count, overMs: size.overMs, &random)
        let hintMsMax = size.overMs / 40
        let others = Manner.allCases.filter { $0 != .anyOfThese }
        let returns = notified.keys.map { id in
            let hintMs = Int.random(in: 0...hintMsMax, using: &random)
            let manner = manner == .anyOfThese ? others.randomElement(using: &random) ?? .leavesAtOnce : manner
            let (toldMs, closedMs) = (notified[id] ?? 0, closed[id] ?? 0)
            return switch manner {
            case .leavesAtOnce, .anyOfThese: toldMs
            case .leavesAfterTheHint: toldMs + hintMs
            case .returnsWhenClosed: closedMs
            case .returnsAfterTheHintWhenClosed: closedMs + hintMs
            }
        }.sorted()
        let windowMs = size.overMs / 10
        var first = 0
        var most = 0
        for (index, atMs) in returns.enumerated() {
            while returns[first] <= atMs - windowMs { first += 1 }
            most = max(most, index - first + 1)
        }
        #expect(Double(most) <= Double(size.count) / 10 * 1.5, "\(most) of \(size.count)")
    }

    @Test(arguments: [0, -5, 1])
    func noTimeMeansAtOnce(_ overMs: Int) {
        var random = Seeded(1)
        var plan = DrainPlan([1, 2, 3], nowMs: 0, overMs: overMs, using: &random)
        let step = plan.step(nowMs: 1)
        #expect(step.notified.sorted() == [1, 2, 3] && step.closed.sorted() == [1, 2, 3])
        #expect(plan.isOver)
    }

    @Test func aLateStepNamesEverybodyWhoWasDue() {
        var random = Seeded(1)
        var plan = DrainPlan(Array(0..<10), nowMs: 0, overMs: 1_000, using: &random)
        let half = plan.step(nowMs: 475)
        #expect(half.notified.count == 5 && half.closed.count == 4)
        let last = plan.step(nowMs: 60_000)
        #expect(last.notified.count == 5 && last.closed.count == 6)
    }

    /// A client that the kernel had connected before the drain, and that opened its WebSocket after it began.
    @Test func whoComesLateIsToldAtOnceAndClosedAfterTheSameNotice() {
        var random = Seeded(1)
        var plan = DrainPlan<Int>([], nowMs: 0, overMs: 1_000, using: &random)
        plan.join(1, nowMs: 100)
        #expect(!plan.isOver)
        #expect(plan.step(nowMs: 110).notified == [1])
        plan.join(2, nowMs: 120)
        #expect(plan.step(nowMs: 149).notified == [2])
        #expect(plan.step(nowMs: 150).closed == [1])
        let last = plan.step(nowMs: 10_000)
        #expect(last.notified.isEmpty && last.closed == [2])
        #expect(plan.isOver)
    }
}
