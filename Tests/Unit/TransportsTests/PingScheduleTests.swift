import Testing

@testable import Transports

@Suite struct PingScheduleTests {
    static let (intervalMs, answerMs) = (25_000, 10_000)
    static let sliceMs = intervalMs / PingSchedule.slices

    private func step(_ pings: inout PingSchedule, _ nowMs: Int) -> PingSchedule.Step {
        pings.step(nowMs: nowMs, intervalMs: PingScheduleTests.intervalMs, answerMs: PingScheduleTests.answerMs)
    }

    @Test func aSilentClientIsPingedOnceAndThenGivenUp() {
        var pings = PingSchedule(nowMs: 7, intervalMs: PingScheduleTests.intervalMs)
        let dueMs = pings.dueMs
        #expect((25_007...25_007 + PingScheduleTests.sliceMs).contains(dueMs))
        #expect(step(&pings, dueMs - 1) == .nothing)
        #expect(step(&pings, dueMs) == .ping)
        #expect(pings.dueMs == dueMs + PingScheduleTests.answerMs)
        #expect(step(&pings, pings.dueMs - 1) == .nothing)
        #expect(step(&pings, pings.dueMs) == .silence)
    }

    @Test func anythingAnswersAPing() {
        var pings = PingSchedule(nowMs: 0, intervalMs: PingScheduleTests.intervalMs)
        let pingedMs = pings.dueMs
        #expect(step(&pings, pingedMs) == .ping)
        #expect(pings.received(nowMs: pingedMs + 5, intervalMs: PingScheduleTests.intervalMs) == true)
        #expect(pings.dueMs >= pingedMs + 5 + PingScheduleTests.intervalMs)
        #expect(step(&pings, pingedMs + PingScheduleTests.answerMs) == .nothing)
        #expect(step(&pings, pings.dueMs) == .ping)
    }

    @Test func aClientThatSendsIsNotPinged() {
        var pings = PingSchedule(nowMs: 0, intervalMs: PingScheduleTests.intervalMs)
        for nowMs in stride(from: 1_000, through: 100_000, by: 1_000) {
            let hasMoved = pings.received(nowMs: nowMs, intervalMs: PingScheduleTests.intervalMs)
            #expect(!hasMoved, "its deadline need not move")
            #expect(step(&pings, nowMs) == .nothing)
        }
        #expect(step(&pings, pings.dueMs) == .nothing, "it sent something since the deadline was set")
        #expect((125_000...125_000 + PingScheduleTests.sliceMs).contains(pings.dueMs))
        #expect(step(&pings, pings.dueMs) == .ping)
    }

    /// Each ping alone woke the thread: with 100,000 clients 4,000 times a second.
    @Test func pingsOfManyClientsAreDueTogether() {
        let clients = (0..<10_000).map { PingSchedule(nowMs: $0 * 2, intervalMs: PingScheduleTests.intervalMs) }
        let times = Set(clients.map(\.dueMs))
        #expect(times.count <= 20_000 / PingScheduleTests.sliceMs + 2)
        for (number, client) in clients.enumerated() {
            let exactMs = number * 2 + PingScheduleTests.intervalMs
            #expect((exactMs..<exactMs + PingScheduleTests.sliceMs).contains(client.dueMs))
        }
    }

    @Test func aShortIntervalIsExact() {
        let pings = PingSchedule(nowMs: 13, intervalMs: 100)
        #expect(pings.dueMs == 113)
    }

    @Test func anEchoIsNeverPinged() {
        var pings = PingSchedule.none
        #expect(pings.dueMs == Int.max)
        #expect(pings.received(nowMs: 5, intervalMs: PingScheduleTests.intervalMs) == false)
        #expect(step(&pings, 1_000_000) == .nothing)
    }
}
