import Core
import Testing

@testable import EventLogs

@Suite struct IdlePositionsTests {
    static func topic(_ number: Int) throws -> Topic { try #require(Topic("shop:\(number)")) }

    @Test func eachHasThreeTurnsInItsLife() throws {
        var idle = IdlePositions(lifeSeconds: 300)
        let topic = try IdlePositionsTests.topic(1)
        idle.add(topic, nowMs: 0)
        idle.add(topic, nowMs: 50_000)
        #expect(idle.count == 1, "once, however often it is read")
        #expect(idle.due(nowMs: 99_999, max: 9) { _ in true } == [])
        for nowMs in [100_000, 200_000, 300_000] {
            #expect(idle.due(nowMs: nowMs, max: 9) { _ in true } == [topic])
            #expect(idle.due(nowMs: nowMs, max: 9) { _ in true } == [])
        }
    }

    /// What nobody is on any more is forgotten, or the queue would hold every name that was ever joined.
    @Test func whatIsNotHeldIsForgotten() throws {
        var idle = IdlePositions(lifeSeconds: 3)
        for number in 0..<100 { idle.add(try IdlePositionsTests.topic(number), nowMs: 0) }
        let held = try IdlePositionsTests.topic(7)
        #expect(idle.due(nowMs: 1_000, max: 9) { $0 == held } == [held])
        #expect(idle.count == 1)
        idle.add(try IdlePositionsTests.topic(8), nowMs: 1_500)
        #expect(idle.due(nowMs: 2_600, max: 9) { _ in true }.count == 2, "it may come back")
    }

    @Test func aBatchIsBoundedAndTheRestIsNext() throws {
        var idle = IdlePositions(lifeSeconds: 3)
        for number in 0..<10 { idle.add(try IdlePositionsTests.topic(number), nowMs: 0) }
        #expect(idle.due(nowMs: 1_000, max: 4) { _ in true }.count == 4)
        #expect(idle.due(nowMs: 1_000, max: 4) { _ in true }.count == 4)
        #expect(idle.due(nowMs: 1_000, max: 4) { _ in true }.count == 2)
    }

    /// The topics of a crowd that had left stayed until their turn, a hundred seconds, and kept the heap's pages.
    @Test func aCrowdThatLeavesIsForgottenAtOnceAndWhoeverStaysIsNot() throws {
        var idle = IdlePositions(lifeSeconds: 3)
        for number in 0..<5_000 { idle.add(try IdlePositionsTests.topic(number), nowMs: number / 10) }
        let held = Set(try (100..<400).map { try IdlePositionsTests.topic($0) })
        idle.thin(topics: 5_000) { held.contains($0) }
        #expect(idle.count == 5_000, "nobody looks while most are held")
        idle.thin(topics: 300) { held.contains($0) }
        #expect(idle.count == 300)
        #expect(idle.due(nowMs: 1_009, max: 999) { _ in true } == [])
        #expect(idle.due(nowMs: 1_010, max: 999) { _ in true }.count == 10, "turns stay where they were")
        idle.add(try IdlePositionsTests.topic(7), nowMs: 2_000)
        #expect(idle.count == 301, "it may come back")
    }
}
