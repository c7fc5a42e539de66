import Testing

@testable import Worker

/// Older data than were seen before are noticed, and only those.
@Suite struct DataTimeTests {
    @Test func theFirstTimeIsTaken() {
        var time = DataTime(seenMs: nil)
        let first = time.read(1_000)
        #expect(first == nil && time.seenMs == 1_000)
    }

    @Test func timeThatGoesOnIsNoNews() {
        var time = DataTime(seenMs: 1_000)
        let same = time.read(1_000)
        let later = time.read(1_001)
        #expect(same == nil && later == nil && time.seenMs == 1_001)
    }

    @Test func timeThatWentBackIsToldOnce() {
        var time = DataTime(seenMs: 9_000)
        let back = time.read(4_000)
        let again = time.read(4_000)
        #expect(back == 5_000 && again == nil && time.seenMs == 4_000)
    }
}
