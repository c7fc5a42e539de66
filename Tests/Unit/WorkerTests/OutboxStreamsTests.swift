import Core
import Testing

@testable import Worker

@Suite struct OutboxStreamsTests {
    private static let first = OutboxStream(slot: 0, lane: 0, isFollowUp: false)
    private static let share = 100

    private func streams(_ slots: Int) -> OutboxStreams {
        OutboxStreams(slots: slots, sweepMs: 1_000, window: OutboxStreamsTests.share * 2)
    }

    private func entry(_ number: UInt64, _ payer: String = "a", parts: Int = 1) -> LaneReading.Seen {
        LaneReading.Seen(id: StreamID(ms: number, number: 0), payer: Array(payer.utf8), parts: parts)
    }

    @Test func theOnlySlotIsLookedAtNowAndThen() {
        var streams = streams(1)
        #expect(streams.nextMs == Int.min && streams.next(nowMs: 5) == .look(0..<1))
        #expect(streams.next(nowMs: 5) == nil && streams.nextMs == Int.max)
        streams.looked([], nowMs: 0)
        #expect(streams.next(nowMs: 1_004) == nil && streams.nextMs == 1_005)
        #expect(streams.next(nowMs: 1_005) == .look(0..<1))
    }

    /// What is in hand is not read again, and what was read last says where to go on.
    @Test func aStreamIsReadOnUntilItIsEmpty() {
        var streams = streams(1)
        let first = OutboxStreamsTests.first
        _ = streams.next(nowMs: 0)
        streams.looked([], nowMs: 0)
        streams.woken(first)
        #expect(streams.next(nowMs: 0) == .read(first, .new(after: nil)))
        #expect(streams.read(first, [entry(1), entry(2, parts: 2)], isFull: false) == [0, 1])
        #expect(streams.next(nowMs: 0) == .read(first, .new(after: StreamID(ms: 2, number: 0))))
        streams.woken(first)
        #expect(streams.read(first, [], isFull: false) == [])
        #expect(
            streams.next(nowMs: 0) == .read(first, .new(after: StreamID(ms: 2, number: 0))),
            "something came while it was read")
        #expect(streams.read(first, [], isFull: false) == [])
        #expect(streams.next(nowMs: 0) == nil && streams.activeSlots == [0])
        #expect(streams.finished(first, StreamID(ms: 2, number: 0)) == nil, "one part of two")
        #expect(streams.finished(first, StreamID(ms: 2, number: 0)) == Array("a".utf8))
        #expect(streams.finished(first, StreamID(ms: 1, number: 0)) == Array("a".utf8))
        #expect(streams.finished(first, StreamID(ms: 1, number: 0)) == nil && streams.activeSlots.isEmpty)
        streams.woken(first)
        #expect(streams.next(nowMs: 0) == .read(first, .new(after: nil)), "all is done: from the start")
    }

    /// A slot whose master was away was taken for empty, and its entries waited for the next turn, a minute later.
    @Test func afterASlotDidNotAnswerAllAreLookedAtAgain() {
        let count = OutboxStreams.looksMax * 2
        var streams = streams(count)
        _ = streams.next(nowMs: 0)
        streams.looked([], failed: true, nowMs: 0)
        #expect(streams.next(nowMs: 999) == nil && streams.nextMs == 1_000, "not at once")
        for _ in 0..<2 {
            guard case .look? = streams.next(nowMs: 1_000) else { return #expect(Bool(false)) }
            streams.looked([], nowMs: 1_000)
        }
        #expect(streams.next(nowMs: 1_000) == nil && streams.nextMs == 2_000)
    }

    @Test func allSlotsAreLookedAtFirstAndInTurnLater() {
        let count = OutboxStreams.looksMax * 2 + 7
        var streams = streams(count)
        var seen: [Int] = []
        for _ in 0..<3 {
            guard case .look(let range)? = streams.next(nowMs: 0) else { return #expect(Bool(false)) }
            seen += range
            #expect(streams.next(nowMs: 0) == nil && streams.nextMs == Int.max)
            streams.looked([], nowMs: 0)
        }
        #expect(seen == Array(0..<count))
        #expect(streams.next(nowMs: 999) == nil && streams.nextMs == 1_000)
        #expect(streams.next(nowMs: 1_000) == .look(0..<OutboxStreams.looksMax))
        streams.looked([3], nowMs: 0)
        var read: Set<OutboxStream> = []
        while case .read(let stream, .new(nil))? = streams.next(nowMs: 1_000) {
            read.insert(stream)
            #expect(streams.read(stream, [], isFull: false) == [])
        }
        #expect(read == Set(OutboxStream.all(of: 3)), "all lanes of the slot that has something")
        streams.lookAtAll()
        #expect(streams.next(nowMs: 1_000) == .look(OutboxStreams.looksMax..<2 * OutboxStreams.looksMax))
    }

    @Test func fewStreamsAreReadAtOnceAndNoneTwice() {
        var streams = streams(2)
        guard case .look(let range)? = streams.next(nowMs: 0) else { return #expect(Bool(false)) }
        streams.looked(range, nowMs: 0)
        streams.looked(range, nowMs: 0)
        var read: [OutboxStream] = []
        while case .read(let stream, _)? = streams.next(nowMs: 0) { read.append(stream) }
        #expect(read.count == OutboxStreams.readsMax)
        for stream in read { _ = streams.read(stream, [], isFull: false) }
        while case .read(let stream, _)? = streams.next(nowMs: 0) {
            read.append(stream)
            _ = streams.read(stream, [], isFull: false)
        }
        #expect(read == OutboxStream.all(of: 0) + OutboxStream.all(of: 1) && streams.activeSlots.isEmpty)
        streams.woken(OutboxStream(slot: 2, lane: 0, isFollowUp: false))
        #expect(streams.activeSlots.isEmpty)
    }

    @Test func whatCouldNotBeReadIsFoundAgain() {
        var streams = streams(1)
        let first = OutboxStreamsTests.first
        _ = streams.next(nowMs: 0)
        streams.looked([], nowMs: 0)
        streams.woken(first)
        #expect(streams.next(nowMs: 0) == .read(first, .new(after: nil)))
        streams.readFailed(first, nowMs: 0)
        #expect(streams.next(nowMs: 999) == nil && streams.nextMs == 1_000)
        #expect(streams.next(nowMs: 1_000) == .look(0..<1))
        streams.looked([0], nowMs: 0)
        #expect(streams.next(nowMs: 1_000) == .read(first, .new(after: nil)))
    }
}
