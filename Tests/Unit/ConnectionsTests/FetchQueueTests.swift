import Testing

@testable import Connections

/// What waits for a client that fetches it, and that each frame is counted once.
@Suite struct FetchQueueTests {
    private let counts = OutboundCounts()

    private func figures() -> [Int] {
        [counts.waiting, counts.written, counts.droppedSlow, counts.droppedGone]
    }

    private func queue(_ frames: Int) -> FetchQueue {
        var queue = FetchQueue()
        let item = OutboundItem(counts: counts)
        for number in 0..<frames { queue.append([UInt8(number)], item: item, nowMs: 10 * number) }
        return queue
    }

    @Test func framesAreTakenInOrderAndCountedAsWritten() {
        var queue = queue(5)
        queue.append([9, 9], nowMs: 50)
        #expect(queue.byteCount == 7 && queue.oldestMs == 0 && figures() == [5, 0, 0, 0])
        let first = queue.take(4, bytesMax: 1_000_000)
        #expect(first.frames == [[0], [1], [2], [3]] && first.items == 4)
        #expect(queue.byteCount == 3 && queue.oldestMs == 40 && figures() == [1, 4, 0, 0])
        let rest = queue.take(16, bytesMax: 1_000_000)
        // A word of the gateway's own is counted nowhere.
        #expect(rest.frames == [[4], [9, 9]] && rest.items == 1)
        #expect(queue.isEmpty && queue.byteCount == 0 && queue.oldestMs == nil && figures() == [0, 5, 0, 0])
        #expect(queue.take(16, bytesMax: 1_000_000).frames.isEmpty)
    }

    @Test(arguments: [(true, [0, 1, 2, 0]), (false, [0, 1, 0, 2])])
    func whatIsDroppedIsCountedByItsReason(_ isSlow: Bool, _ expected: [Int]) {
        var queue = queue(3)
        _ = queue.take(1, bytesMax: 1_000_000)
        #expect(queue.removeAll(isSlow: isSlow) == 2)
        #expect(queue.isEmpty && queue.byteCount == 0 && figures() == expected)
    }

    @Test func whatIsHandedOverIsCountedByWhoeverTakesIt() {
        var queue = queue(2)
        let frames = queue.handOver()
        #expect(frames.map(\.frame) == [[0], [1]] && frames.allSatisfy { $0.item?.counts === counts })
        #expect(queue.isEmpty && queue.byteCount == 0 && figures() == [0, 0, 0, 0])
    }

    /// A client that resumed behind much was ended by the next live events.
    @Test func whatIsOwedCountsAgainstNoBound() {
        var queue = queue(2)
        queue.append([7, 7, 7], isBacklog: true, nowMs: 30)
        #expect(queue.byteCount == 5 && queue.unowedBytes == 2)
        _ = queue.take(1, bytesMax: 1_000_000)
        #expect(queue.byteCount == 4 && queue.unowedBytes == 1)
        _ = queue.take(2, bytesMax: 1_000_000)
        #expect(queue.byteCount == 0 && queue.unowedBytes == 0)
        queue.append([7], isBacklog: true, nowMs: 40)
        _ = queue.handOver()
        queue.append([7], isBacklog: true, nowMs: 50)
        _ = queue.removeAll(isSlow: false)
        queue.append([8, 8], nowMs: 60)
        #expect(queue.unowedBytes == 2)
    }

    @Test func aRefusedFrameIsAnOfferToASlowClient() {
        OutboundItem(counts: counts).countRefused()
        #expect(figures() == [0, 0, 1, 0])
    }

    /// Sixteen states of megabytes were one answer, which no link to Redis would take.
    @Test func anAnswerEndsByItsBytesToo() {
        var queue = FetchQueue()
        for count in [700, 200, 200, 5_000, 1] { queue.append([UInt8](repeating: 0, count: count), nowMs: 0) }
        #expect(queue.take(16, bytesMax: 1_000).frames.map(\.count) == [700, 200])
        #expect(queue.take(16, bytesMax: 1_000).frames.map(\.count) == [200])
        #expect(queue.take(16, bytesMax: 1_000).frames.map(\.count) == [5_000])
        #expect(queue.take(16, bytesMax: 1_000).frames.map(\.count) == [1])
        #expect(queue.isEmpty && queue.byteCount == 0)
    }

    /// An event with ten attachments counted as one packet, and python-engineio drops the connection beyond sixteen.
    @Test func anAnswerEndsByItsPackets() {
        var queue = FetchQueue()
        for packets in [1, 11, 4, 1, 11, 40] { queue.append([UInt8(packets)], packets: packets, nowMs: 0) }
        for taken in [[[1], [11], [4]], [[1], [11]], [[40]], []] as [[[UInt8]]] {
            #expect(queue.take(16, bytesMax: 1_000).frames == taken)
        }
    }
}
