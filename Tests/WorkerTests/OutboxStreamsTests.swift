import Testing

@testable import Worker

@Suite struct OutboxStreamsTests {
    private func id(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test func theOnlyStreamIsReadAndReadAgainNowAndThen() {
        var streams = OutboxStreams(count: 1, sweepMs: 1_000)
        #expect(streams.nextMs == Int.min && streams.next(nowMs: 5) == .read(0, after: nil))
        #expect(streams.next(nowMs: 5) == nil)
        streams.read(0, last: nil, parts: 0, isMore: false)
        #expect(streams.next(nowMs: 1_004) == nil && streams.nextMs == 1_005)
        #expect(streams.next(nowMs: 1_005) == .read(0, after: nil))
    }

    /// What is in hand is not read again, and what was read last says where to go on.
    @Test func aStreamIsReadOnUntilItIsEmpty() {
        var streams = OutboxStreams(count: 1, sweepMs: 1_000)
        _ = streams.next(nowMs: 0)
        streams.read(0, last: id("2-0"), parts: 3, isMore: true)
        #expect(streams.next(nowMs: 0) == .read(0, after: id("2-0")))
        streams.woken(0)
        streams.read(0, last: nil, parts: 0, isMore: false)
        #expect(streams.next(nowMs: 0) == .read(0, after: id("2-0")), "something came while it was read")
        streams.read(0, last: nil, parts: 0, isMore: false)
        #expect(streams.next(nowMs: 0) == nil && streams.activeStreams.count == 1)
        for _ in 0..<3 { streams.finished(0) }
        #expect(streams.activeStreams.isEmpty)
        streams.woken(0)
        #expect(streams.next(nowMs: 0) == .read(0, after: nil), "all is done: from the start")
    }

    @Test func allStreamsAreLookedAtFirstAndInTurnLater() {
        let count = OutboxStreams.looksMax * 2 + 7
        var streams = OutboxStreams(count: count, sweepMs: 1_000)
        var seen: [Int] = []
        for _ in 0..<3 {
            guard case .look(let range)? = streams.next(nowMs: 0) else { return #expect(Bool(false)) }
            seen += range
            #expect(streams.next(nowMs: 0) == nil && streams.nextMs == Int.max)
            streams.looked([])
        }
        #expect(seen == Array(0..<count))
        #expect(streams.next(nowMs: 999) == nil && streams.nextMs == 1_000)
        #expect(streams.next(nowMs: 1_000) == .look(0..<OutboxStreams.looksMax))
        streams.looked([3, 5])
        #expect(
            streams.next(nowMs: 1_000) == .read(3, after: nil) && streams.next(nowMs: 1_000) == .read(5, after: nil))
        streams.lookAtAll()
        #expect(streams.next(nowMs: 1_000) == .look(OutboxStreams.looksMax..<2 * OutboxStreams.looksMax))
    }

    @Test func fewStreamsAreReadAtOnceAndNoneTwice() {
        let count = OutboxStreams.readsMax * 4
        var streams = OutboxStreams(count: count, sweepMs: 1_000)
        guard case .look(let range)? = streams.next(nowMs: 0) else { return #expect(Bool(false)) }
        streams.looked(range)
        for index in range { streams.woken(index) }
        var read: [Int] = []
        while case .read(let index, _)? = streams.next(nowMs: 0) { read.append(index) }
        #expect(read == Array(0..<OutboxStreams.readsMax))
        for index in 0..<OutboxStreams.readsMax { streams.read(index, last: nil, parts: 0, isMore: false) }
        while case .read(let index, _)? = streams.next(nowMs: 0) {
            read.append(index)
            streams.read(index, last: nil, parts: 0, isMore: false)
        }
        #expect(read == Array(0..<count) && streams.activeStreams.isEmpty)
        streams.woken(-1)
        streams.woken(count)
        streams.finished(count)
        #expect(streams.activeStreams.isEmpty)
    }

    @Test func whatCouldNotBeReadIsFoundAgain() {
        var streams = OutboxStreams(count: 2, sweepMs: 1_000)
        _ = streams.next(nowMs: 0)
        streams.looked([1])
        #expect(streams.next(nowMs: 0) == .read(1, after: nil))
        streams.readFailed(1, nowMs: 0)
        #expect(streams.next(nowMs: 999) == nil)
        #expect(streams.next(nowMs: 1_000) == .look(0..<2))
    }
}
