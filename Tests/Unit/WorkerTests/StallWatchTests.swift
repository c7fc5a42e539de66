import Service
import Testing

/// Times for which a whole process stood still: decided without a clock.
@Suite struct StallWatchTests {
    @Test func looksInTimeAreNoStall() {
        var watch = StallWatch()
        #expect((0..<9).allSatisfy { watch.look(nowMs: $0 * 1_000, expectedMs: 1_000) == nil })
    }

    @Test func aBusyMachineIsNoStall() {
        var watch = StallWatch()
        _ = watch.look(nowMs: 0, expectedMs: 1_000)
        #expect(watch.look(nowMs: 2_999, expectedMs: 1_000) == nil)
    }

    @Test func aHoleIsToldOnceWithItsLength() {
        var watch = StallWatch()
        _ = watch.look(nowMs: 0, expectedMs: 1_000)
        #expect(watch.look(nowMs: 7_000, expectedMs: 1_000) == 6_000)
        #expect(watch.look(nowMs: 8_000, expectedMs: 1_000) == nil)
    }

    @Test func theFirstLookHasNothingBefore() {
        var watch = StallWatch()
        #expect(watch.look(nowMs: 1_000_000, expectedMs: 1_000) == nil)
    }
}
