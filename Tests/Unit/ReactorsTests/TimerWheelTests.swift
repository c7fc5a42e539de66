import TestSupport
import Testing

@testable import Reactors

@Suite struct TimerWheelTests {
    static let turnMs = 4_096 * TimerWheel.tickMs

    static func token(_ number: Int) -> EventToken {
        EventToken(slot: number, generation: 7)
    }

    /// Advances millisecond by millisecond; when the one entry fired, `nil` when it did not until `untilMs`.
    static func fireMs(startMs: Int, deadlineMs: Int, untilMs: Int) -> Int? {
        var wheel = TimerWheel(nowMs: startMs)
        wheel.schedule(token(1), atMs: deadlineMs)
        var due: [EventToken] = []
        for nowMs in startMs...untilMs {
            wheel.advance(toMs: nowMs, due: &due)
            if !due.isEmpty { return nowMs }
        }
        return nil
    }

    @Test(arguments: [0, 1, 7, 8, 9, 15, 16, 17, 100, 4_095, 32_767, 32_768, 32_769, 65_600])
    func neverEarlyAndAtMostOneTickLate(_ delayMs: Int) throws {
        for startMs in [0, 3, 8, 32_760, 1_000_003] {
            let deadlineMs = startMs + delayMs
            let fired = try #require(
                TimerWheelTests.fireMs(startMs: startMs, deadlineMs: deadlineMs, untilMs: deadlineMs + 20))
            #expect(fired >= deadlineMs)
            #expect(fired <= deadlineMs + TimerWheel.tickMs)
        }
    }

    @Test func aDeadlineInThePastFiresAtTheNextAdvance() {
        var wheel = TimerWheel(nowMs: 1_000)
        wheel.schedule(TimerWheelTests.token(1), atMs: 5)
        wheel.schedule(TimerWheelTests.token(2), atMs: -5)
        var due: [EventToken] = []
        wheel.advance(toMs: 1_000, due: &due)
        #expect(due == [TimerWheelTests.token(1), TimerWheelTests.token(2)])
        #expect(wheel.count == 0)
    }

    @Test func aDeadlineBeyondATurnGoesRoundAgain() {
        var wheel = TimerWheel(nowMs: 0)
        let farMs = 3 * TimerWheelTests.turnMs + 100
        wheel.schedule(TimerWheelTests.token(1), atMs: farMs)
        wheel.schedule(TimerWheelTests.token(2), atMs: 100)
        var due: [EventToken] = []
        for nowMs in stride(from: 0, through: farMs, by: 50) { wheel.advance(toMs: nowMs, due: &due) }
        #expect(due == [TimerWheelTests.token(2)])
        #expect(wheel.count == 1)
        wheel.advance(toMs: farMs + TimerWheel.tickMs, due: &due)
        #expect(due == [TimerWheelTests.token(2), TimerWheelTests.token(1)])
        #expect(wheel.waitMs(nowMs: farMs) == nil)
    }

    /// Every bucket kept storage for the largest herd that had ever come by: with 4,000 pinged clients 3.8 kB a second,
    /// for half an hour.
    @Test func herdsThatGoRoundNeedNoMoreStorageThanTheyHaveTimers() {
        var wheel = TimerWheel(nowMs: 0)
        let (herds, size, periodMs) = (60, 64, 25_000)
        for herd in 0..<herds {
            for number in 0..<size {
                wheel.schedule(TimerWheelTests.token(herd * size + number), atMs: herd * 100)
            }
        }
        var due: [EventToken] = []
        var fired = 0
        for nowMs in stride(from: 0, through: 3_600_000, by: TimerWheel.tickMs) {
            due.removeAll(keepingCapacity: true)
            wheel.advance(toMs: nowMs, due: &due)
            fired += due.count
            for token in due { wheel.schedule(token, atMs: nowMs + periodMs) }
        }
        #expect(fired > 100 * herds * size)
        #expect(wheel.count == herds * size && wheel.places == herds * size)
    }

    @Test func theStorageOfAHerdIsGivenBackAfterIt() {
        var wheel = TimerWheel(nowMs: 0)
        for number in 0..<10_000 { wheel.schedule(TimerWheelTests.token(number), atMs: number) }
        var due: [EventToken] = []
        wheel.advance(toMs: 20_000, due: &due)
        #expect(due.count == 10_000 && wheel.count == 0 && wheel.places == 0)
        wheel.schedule(TimerWheelTests.token(1), atMs: 20_100)
        wheel.advance(toMs: 20_200, due: &due)
        #expect(due.count == 10_001)
    }

    @Test func aJumpOverManyTurnsFiresEverythingOnce() {
        var wheel = TimerWheel(nowMs: 0)
        for number in 0..<1_000 { wheel.schedule(TimerWheelTests.token(number), atMs: number * 97) }
        var due: [EventToken] = []
        wheel.advance(toMs: 10 * TimerWheelTests.turnMs, due: &due)
        #expect(Set(due) == Set((0..<1_000).map { TimerWheelTests.token($0) }))
        #expect(due.count == 1_000)
    }

    @Test func timeThatStandsStillFiresNothingTwice() {
        var wheel = TimerWheel(nowMs: 0)
        wheel.schedule(TimerWheelTests.token(1), atMs: 10)
        var due: [EventToken] = []
        for _ in 0..<3 { wheel.advance(toMs: 16, due: &due) }
        #expect(due.count == 1)
    }

    @Test func waitIsExactWithinATurnAndNilWhenEmpty() {
        for startMs in [0, 5, 8 * 63, 8 * 64, 8 * 4_095, 123_456] {
            for delayMs in [0, 1, 8, 500, 511, 512, 513, 20_000, TimerWheelTests.turnMs - 16] {
                var wheel = TimerWheel(nowMs: startMs)
                #expect(wheel.waitMs(nowMs: startMs) == nil)
                wheel.schedule(TimerWheelTests.token(1), atMs: startMs + delayMs)
                let fireMs = ((startMs + delayMs) / TimerWheel.tickMs + 1) * TimerWheel.tickMs
                #expect(wheel.waitMs(nowMs: startMs) == fireMs - startMs)
                #expect(wheel.waitMs(nowMs: fireMs + 1) == 0)
            }
        }
    }

    /// Against a model that is a plain list, with times that crawl, leap and cross turns.
    @Test(arguments: 0..<200)
    func aRandomHistoryMatchesTheModel(_ seed: Int) {
        var random = Seeded(UInt64(seed))
        var nowMs = Int.random(in: 0...100_000, using: &random)
        var wheel = TimerWheel(nowMs: nowMs)
        /// By number: the deadline, and the latest tick edge at which it may fire.
        var model: [Int: (deadlineMs: Int, latestMs: Int)] = [:]
        var due: [EventToken] = []
        for number in 0..<400 {
            let delayMs = Int.random(in: 0..<4, using: &random) == 0 ? 100_000 : 300
            let deadlineMs = nowMs + Int.random(in: -20...delayMs, using: &random)
            let latestMs = max((deadlineMs / TimerWheel.tickMs + 1) * TimerWheel.tickMs, nowMs + TimerWheel.tickMs)
            wheel.schedule(TimerWheelTests.token(number), atMs: deadlineMs)
            model[number] = (deadlineMs, latestMs)
            guard let waitMs = wheel.waitMs(nowMs: nowMs) else {
                Issue.record("nothing to wait for with \(model.count) entries; seed \(seed)")
                return
            }
            let firstMs = model.values.map(\.latestMs).min() ?? 0
            #expect(nowMs + waitMs <= firstMs, "late wait; seed \(seed)")
            let isLeap = Int.random(in: 0..<20, using: &random) == 0
            nowMs += Int.random(in: 0...(isLeap ? 70_000 : 30), using: &random)
            due.removeAll()
            wheel.advance(toMs: nowMs, due: &due)
            for token in due {
                guard let entry = model.removeValue(forKey: token.slot) else {
                    Issue.record("fired twice; seed \(seed)")
                    return
                }
                #expect(entry.deadlineMs <= nowMs, "early; seed \(seed)")
            }
            #expect(model.values.allSatisfy { $0.latestMs > nowMs }, "late; seed \(seed)")
            #expect(wheel.count == model.count, "seed \(seed)")
        }
    }
}
