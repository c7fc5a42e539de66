import Core
import TestSupport
import Testing

@testable import Worker

/// Readings of a stream that is kept here as Redis would keep it.
@Suite struct LaneReadingTests {
    private typealias Entry = LaneReading.Seen

    private struct Stream {
        var entries: [Entry] = []
        var reading = LaneReading()
        let share: LaneReading.Share
        /// Entries in hand, and all that were ever taken, in their order.
        var hands: [Entry] = []
        var taken: [Entry] = []
        var reads = 0

        mutating func add(_ number: Int, _ payer: String) {
            entries.append(Entry(id: StreamID(ms: UInt64(number), number: 0), payer: Array(payer.utf8), parts: 1))
            reading.woken()
        }

        /// Reads as long as there is something to read, `batch` entries at once; at most `times`.
        mutating func read(batch: Int, times: Int = .max) {
            let most = times == .max ? Int.max : reads + times
            while reads < most, let step = reading.next(share) {
                reads += 1
                let page: ArraySlice<Entry>
                switch step {
                case .new(nil): page = entries.prefix(batch)
                case .new(let last?): page = entries.filter { $0.id > last }.prefix(batch)
                case .again(let first): page = entries.filter { $0.id >= first }.prefix(batch)
                }
                let some = reading.read(Array(page), isFull: page.count == batch, share).map {
                    page[page.startIndex + $0]
                }
                hands += some
                taken += some
            }
        }

        mutating func finish(_ index: Int) {
            let entry = hands.remove(at: index)
            #expect(reading.finished(entry.id) == entry.payer)
            entries.removeAll { $0.id == entry.id }
        }
    }

    /// A flood of one payer stands before another's entry: the entry is in hand at once, in whatever lane.
    @Test func aFloodHidesNobodyBehindIt() {
        var stream = Stream(share: LaneReading.Share(stream: 100, payer: 10))
        for number in 1...5_000 { stream.add(number, "flood") }
        stream.add(5_001, "other")
        stream.read(batch: 256)
        #expect(stream.hands.count == 11 && stream.hands.last?.payer == Array("other".utf8))
        #expect(stream.reads <= 5_000 / 256 + 3)
        // Passed-over entries come when half of the share is done, and cost no look at everything.
        for _ in 0..<5 { stream.finish(0) }
        stream.reads = 0
        stream.read(batch: 256)
        #expect(stream.hands.count == 11 && stream.reads == 1)
    }

    /// While more is new than one reading brings, it is looked at before more of the flood is taken.
    ///
    /// The flood's own entries were always done by then, and its next ones were taken first.
    @Test func whatIsNewGoesBeforeMoreOfAFlood() {
        var stream = Stream(share: LaneReading.Share(stream: 100, payer: 10))
        for number in 1...1_000 { stream.add(number, "flood") }
        stream.add(1_001, "other")
        while stream.taken.last?.payer != Array("other".utf8), stream.reads < 100 {
            stream.read(batch: 100, times: 1)
            while !stream.hands.isEmpty { stream.finish(0) }
        }
        #expect(stream.reads <= 12 && stream.taken.count <= 30)
    }

    /// Everything is taken once, in the order of each payer, whatever is done in which order.
    @Test(arguments: 0..<40) func everythingIsTakenOnceAndInOrder(seed: UInt64) {
        var random = Seeded(seed)
        var stream = Stream(
            share: LaneReading.Share(
                stream: Int.random(in: 4...40, using: &random), payer: Int.random(in: 2...20, using: &random)))
        let batch = Int.random(in: 1...30, using: &random)
        let payers = (0..<Int.random(in: 1...6, using: &random)).map { "p\($0)" }
        var all: [Entry] = []
        var number = 0
        while number < 600 || !stream.entries.isEmpty {
            for _ in 0..<Int.random(in: 0...30, using: &random) where number < 600 {
                number += 1
                stream.add(number, payers[min(Int.random(in: 0...12, using: &random), payers.count - 1)])
                if let last = stream.entries.last { all.append(last) }
            }
            stream.read(batch: batch)
            for payer in payers {
                let count = stream.hands.filter { $0.payer == Array(payer.utf8) }.count
                #expect(count <= max(stream.share.payer, 1), "seed \(seed)")
            }
            let count = Int.random(in: 0...stream.hands.count, using: &random)
            for _ in 0..<count { stream.finish(Int.random(in: stream.hands.indices, using: &random)) }
            if number == 600, stream.hands.isEmpty, !stream.entries.isEmpty { stream.reading.woken() }
        }
        #expect(stream.taken.count == all.count, "seed \(seed)")
        for payer in payers {
            let mine = Array(payer.utf8)
            let isInOrder =
                stream.taken.filter { $0.payer == mine }.map(\.id) == all.filter { $0.payer == mine }.map(\.id)
            #expect(isInOrder, "seed \(seed)")
        }
        #expect(stream.reading.isIdle && stream.reading.parts == 0)
    }

    @Test func idsAreComparedAsRedisDoes() {
        func id(_ text: String) -> StreamID? { StreamID(Array(text.utf8)) }
        let ids = ["0-1", "0-18446744073709551615", "1-0", "9-9", "10-0", "18446744073709551615-0"].compactMap {
            id($0)
        }
        #expect(ids.count == 6 && ids == ids.sorted() && Set(ids).count == 6)
        #expect(ids.map { String(decoding: $0.text, as: UTF8.self) }.last == "18446744073709551615-0")
        #expect(id("0-18446744073709551615")?.next == id("1-0") && id("9-9")?.next == id("9-10"))
        let last = StreamID(ms: .max, number: .max)
        #expect(last.next == last)
        for wrong in [
            "", "-", "1", "1-", "-1", "a-1", "1-x", "18446744073709551616-0", "1-184467440737095516150", "1--1",
        ] {
            #expect(id(wrong) == nil, "\(wrong)")
        }
    }
}
