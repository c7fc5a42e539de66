import Testing

@testable import Operations

@Suite struct HeapTrimTests {
    @Test func theHeapIsTrimmedAfterASurgeAndNotDuringOne() {
        var trim = HeapTrim()
        // Connections, handshakes, and whether it is due.
        let looks = [
            (0, 0, false), (1_000, 1_000, false), (1_500, 1_500, false), (1_500, 1_500, true), (1_500, 1_500, false),
            (1_200, 1_500, false), (1_100, 1_501, true), (900, 1_502, false), (10, 1_503, true), (0, 1_503, false),
        ]
        for (index, look) in looks.enumerated() {
            let isDue = trim.isDue(held: look.0, handshakes: look.1)
            #expect(isDue == look.2, "look \(index)")
        }
    }

    /// The heap was trimmed while what had belonged to a crowd of 100,000 topics was still there.
    ///
    /// More than 50 MiB that were free a moment later stayed with the process for ever.
    @Test func itIsTrimmedOnceMoreWhenWhatWentWithACrowdIsFreed() {
        var trim = HeapTrim()
        let looks = [1_000] + Array(repeating: 0, count: 30)
        let due = looks.indices.filter { trim.isDue(held: looks[$0], handshakes: 0) }
        #expect(due == [1, 10], "when they have gone, and once more seconds later")
    }
}
