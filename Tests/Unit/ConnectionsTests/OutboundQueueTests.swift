import TestSupport
import Testing

@testable import Connections

@Suite struct OutboundQueueTests {
    /// What a gather into so many bytes brings.
    static func gathered(_ queue: OutboundQueue, _ room: Int) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: room)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe queue.gather(into: $0) }
        return Array(buffer[..<count])
    }

    @Test func anEmptyQueueHasNothing() {
        var queue = OutboundQueue()
        #expect(queue.isEmpty)
        #expect(queue.oldestMs == nil)
        #expect(OutboundQueueTests.gathered(queue, 10).isEmpty)
        queue.append([], nowMs: 1)
        #expect(queue.isEmpty)
        #expect(queue.oldestMs == nil)
        queue.written(5)
        queue.dropUnstarted(pinned: 0)
        #expect(queue.byteCount == 0)
    }

    @Test func theOldestByteGivesTheAge() {
        var queue = OutboundQueue()
        queue.append([1, 2], nowMs: 10)
        queue.append([3], nowMs: 20)
        #expect(queue.oldestMs == 10)
        queue.written(1)
        #expect(queue.oldestMs == 10)
        queue.written(1)
        #expect(queue.oldestMs == 20)
        queue.written(1)
        #expect(queue.oldestMs == nil)
    }

    @Test func droppingKeepsWhatHasBegunAndWhatIsPinned() {
        let frames: [[UInt8]] = [[1, 1, 1], [2, 2, 2], [3, 3, 3], [4, 4, 4]]
        // Bytes written, bytes pinned, bytes kept.
        for (written, pinned, kept) in [
            (0, 0, 0), (0, 1, 3), (0, 3, 3), (0, 4, 6), (1, 0, 2), (1, 2, 2), (1, 3, 5), (3, 0, 0), (3, 1, 3),
            (4, 8, 8), (12, 0, 0),
        ] {
            var queue = OutboundQueue()
            for frame in frames { queue.append(frame, nowMs: 0) }
            queue.written(written)
            queue.dropUnstarted(pinned: pinned)
            #expect(queue.byteCount == kept)
            let all = Array(frames.joined())
            #expect(OutboundQueueTests.gathered(queue, 20) == Array(all[written..<(written + kept)]))
        }
    }

    /// So many frames of different lengths as one burst.
    static func burst(_ count: Int, _ step: Int, _ counts: OutboundCounts) -> OutboundBurst {
        let parts = (1...count).map { number in
            (
                frame: Array(repeating: UInt8(truncatingIfNeeded: step + number), count: number),
                item: OutboundItem(counts: counts)
            )
        }
        return OutboundBurst(parts.flatMap(\.frame), count: count, counts: counts) { parts }
    }

    /// Against a model that is one array of bytes and the ends of its frames.
    @Test(arguments: 0..<100)
    func aRandomHistoryMatchesTheModel(_ seed: Int) {
        var random = Seeded(UInt64(seed))
        var queue = OutboundQueue()
        var model: [UInt8] = []
        /// Bytes each waiting frame still has; the first may have begun.
        var frames: [Int] = []
        var hasBegun = false
        for step in 0..<600 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0:
                // Nobody can tell a burst from its frames.
                let burst = OutboundQueueTests.burst(Int.random(in: 2...5, using: &random), step, OutboundCounts())
                queue.append(burst.frame, item: burst, nowMs: step)
                model += burst.frame
                frames += burst.parts.map(\.frame.count)
            case 1..<10:
                let size = Int.random(in: 0...(step % 7 == 0 ? 3_000 : 40), using: &random)
                let frame = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
                queue.append(frame, nowMs: step)
                model += frame
                if size > 0 { frames.append(size) }
            case 10..<18:
                let offered = OutboundQueueTests.gathered(queue, Int.random(in: 0...4_000, using: &random))
                #expect(offered == Array(model.prefix(offered.count)), "seed \(seed)")
                var left = Int.random(in: 0...offered.count, using: &random)
                queue.written(left)
                model.removeFirst(left)
                while left > 0 {
                    let taken = min(left, frames[0])
                    left -= taken
                    frames[0] -= taken
                    hasBegun = frames[0] > 0
                    if frames[0] == 0 { frames.removeFirst() }
                }
            case 18:
                let pinned = Int.random(in: 0...min(model.count, 5_000), using: &random)
                _ = queue.splitBursts()
                queue.dropUnstarted(pinned: pinned)
                var kept = 0
                var count = 0
                while count < frames.count, kept < pinned || (count == 0 && hasBegun) {
                    kept += frames[count]
                    count += 1
                }
                frames.removeSubrange(count...)
                model.removeSubrange(kept...)
            default:
                if step % 5 == 0 {
                    queue.removeAll()
                    (model, frames, hasBegun) = ([], [], false)
                }
            }
            #expect(queue.byteCount == model.count, "seed \(seed)")
            #expect((queue.oldestMs == nil) == model.isEmpty, "seed \(seed)")
        }
        #expect(OutboundQueueTests.gathered(queue, model.count + 1) == model, "seed \(seed)")
    }

    /// Thinning leaves what has begun, and every item ends in exactly one of its counts.
    @Test(arguments: 0..<100)
    func whateverHappensToAnItemIsCountedOnce(_ seed: Int) {
        var random = Seeded(UInt64(seed))
        var queue = OutboundQueue()
        let counts = OutboundCounts()
        let items = (0..<3).map { OutboundItem(counts: counts, isCounted: $0 > 0) }
        let gaps = OutboundItem(counts: OutboundCounts(), isCounted: false)
        var (given, written, conflated, dropped, uncounted) = (0, 0, 0, 0, 0)
        for step in 0..<400 {
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                let burst = OutboundQueueTests.burst(Int.random(in: 2...5, using: &random), step, counts)
                queue.append(burst.frame, item: burst, nowMs: step)
                given += burst.parts.count
            case 1..<6:
                let frame = Array(repeating: UInt8(step % 256), count: Int.random(in: 1...40, using: &random))
                let item = Bool.random(using: &random) ? items.randomElement(using: &random) : nil
                queue.append(frame, item: item, isBacklog: Int.random(in: 0..<4, using: &random) == 0, nowMs: step)
                given += item == nil ? 0 : 1
                uncounted += item?.isCounted == false ? 1 : 0
            case 6..<9:
                written += queue.written(Int.random(in: 0...120, using: &random))
            case 9, 10:
                let pinned = Int.random(in: 0...min(60, queue.byteCount), using: &random)
                let before = OutboundQueueTests.gathered(queue, queue.byteCount)
                written += queue.splitBursts()
                let frames = queue.waiting(pinned: pinned)
                let fates = frames.map { _ -> FrameFate in
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: .keep
                    case 1: .conflate
                    default: .replace([0xff, 0xff], gaps)
                    }
                }
                conflated += queue.thin(fates, pinned: pinned)
                let after = OutboundQueueTests.gathered(queue, queue.byteCount)
                #expect(after.count == queue.byteCount)
                #expect(after.prefix(pinned) == before.prefix(pinned), "what TLS was offered changed, seed \(seed)")
                let left = zip(frames, fates).count { frame, fate in
                    if case .conflate = fate { return frame.hasBegun }
                    return true
                }
                #expect(queue.waiting(pinned: pinned).count == left, "seed \(seed)")
            default:
                if step % 3 == 0 { written += queue.splitBursts() }
                dropped += step % 2 == 0 ? queue.dropUnstarted(pinned: 0) : queue.removeAll()
            }
            let waiting = queue.waiting(pinned: 0)
            let items = waiting.compactMap(\.item).filter { $0.counts === counts }
            #expect(counts.waiting == items.reduce(0) { $0 + $1.count })
            let ended = counts.written + counts.conflated + counts.droppedSlow + counts.droppedGone
            #expect(given == ended + counts.waiting, "seed \(seed)")
            #expect((queue.backlogBytes > 0) == waiting.contains { $0.isBacklog }, "seed \(seed)")
        }
        dropped += queue.removeAll()
        #expect(written + conflated + dropped + uncounted == given, "seed \(seed)")
        #expect(counts.waiting == 0 && gaps.counts.waiting == 0)
    }

    @Test func ofABurstThatWasWrittenInPartOnlyTheRestWaits() {
        var queue = OutboundQueue()
        let counts = OutboundCounts()
        let burst = OutboundQueueTests.burst(3, 0, counts)
        queue.append(burst.frame, item: burst, nowMs: 7)
        #expect(counts.waiting == 3)
        #expect(queue.written(2) == 0, "the first has one byte, the second two; the burst is told of when it is over")
        #expect(counts.waiting == 3 && queue.waiting(pinned: 0).count == 1)
        #expect(queue.splitBursts() == 1)
        #expect(counts.written == 1 && counts.waiting == 2 && queue.oldestMs == 7)
        #expect(queue.dropUnstarted(pinned: 0) == 1, "the second has begun")
        #expect(counts.droppedSlow == 1 && queue.byteCount == 1)
        #expect(queue.written(1) == 1)
        #expect(queue.isEmpty && counts.written == 2 && counts.waiting == 0)
    }
}
