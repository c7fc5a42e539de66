import Testing

@testable import Reactors

/// Deadlines of sources in a running loop, in real milliseconds; every bound is one-sided, so a slow machine passes.
@Suite struct DeadlineTests {
    /// Runs a source whose deadline `change` sets and moves; when it fired, by the loop's clock, since the start.
    static func fired(_ change: (Reactor, EventToken, Int) -> Void, andLast lastMs: Int) throws -> [Int] {
        let loop = try TestLoop()
        let reactor = loop.reactor
        let startMs = reactor.nowMs
        let source = try loop.add("a")
        var times: [Int] = []
        source.onDeadline = { times.append(reactor.nowMs - startMs) }
        change(reactor, source.token, startMs)
        let last = try loop.add("last")
        last.onDeadline = { reactor.stop() }
        reactor.setDeadline(last.token, at: startMs + lastMs)
        try loop.run()
        return times
    }

    @Test func aDeadlineComesOnce() throws {
        let times = try DeadlineTests.fired({ $0.setDeadline($1, at: $2 + 20) }, andLast: 60)
        #expect(times.count == 1)
        #expect(times.allSatisfy { $0 >= 20 })
    }

    @Test func movedLaterItComesAtTheLaterTime() throws {
        let times = try DeadlineTests.fired(
            {
                for delayMs in stride(from: 10, through: 50, by: 10) { $0.setDeadline($1, at: $2 + delayMs) }
            }, andLast: 100)
        #expect(times.count == 1)
        #expect(times.allSatisfy { $0 >= 50 })
    }

    @Test func movedEarlierItComesAtTheEarlierTime() throws {
        let times = try DeadlineTests.fired(
            {
                $0.setDeadline($1, at: $2 + 60_000)
                $0.setDeadline($1, at: $2 + 10)
            }, andLast: 60)
        #expect(times.count == 1)
    }

    @Test func clearedItNeverComes() throws {
        let times = try DeadlineTests.fired(
            {
                $0.setDeadline($1, at: $2 + 10)
                $0.setDeadline($1, at: Int.max)
            }, andLast: 50)
        #expect(times.isEmpty)
    }

    @Test func earlierAgainAfterLaterStillComes() throws {
        let times = try DeadlineTests.fired(
            {
                $0.setDeadline($1, at: $2 + 40)
                $0.setDeadline($1, at: $2 + 10)
                $0.setDeadline($1, at: $2 + 30)
                $0.setDeadline($1, at: $2 + 20)
            }, andLast: 90)
        #expect(times.count == 1)
        #expect(times.allSatisfy { $0 >= 20 })
    }

    @Test func aDeadlineSetInItsOwnCallbackComesAgain() throws {
        let loop = try TestLoop()
        let reactor = loop.reactor
        let source = try loop.add("a")
        var times: [Int] = []
        source.onDeadline = {
            times.append(reactor.nowMs)
            if times.count == 4 { reactor.stop() } else { reactor.setDeadline(source.token, at: reactor.nowMs + 5) }
        }
        reactor.setDeadline(source.token, at: 0)
        try loop.run()
        #expect(times.count == 4)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 5 })
    }

    @Test func aTimerFiresUntilItIsInvalidated() throws {
        let loop = try TestLoop()
        let reactor = loop.reactor
        var fired = 0
        var timer: ReactorTimer?
        timer = try ReactorTimer(reactor) {
            fired += 1
            timer?.set(atMs: reactor.nowMs)
            if fired == 3 {
                timer?.invalidate()
                timer?.set(atMs: 0)
                loop.stop(afterTicks: reactor.tick + 5)
            }
        }
        timer?.set(atMs: 0)
        try loop.run()
        #expect(fired == 3)
    }

    @Test func aClearedTimerDoesNotFire() throws {
        let loop = try TestLoop()
        let reactor = loop.reactor
        let cleared = try ReactorTimer(reactor) { Issue.record("a cleared timer fired") }
        cleared.set(atMs: reactor.nowMs + 10)
        cleared.clear()
        let last = try ReactorTimer(reactor) { reactor.stop() }
        last.set(atMs: reactor.nowMs + 40)
        try loop.run()
    }
}
