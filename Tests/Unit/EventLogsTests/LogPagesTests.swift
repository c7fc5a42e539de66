import Core
import Testing

@testable import EventLogs
@testable import Topics

/// What is missed may be many pages; it is read whole or told as missing.
@Suite struct LogPagesTests {
    private static let event = EventName(Array("e".utf8))

    private func position(_ offset: Int, epoch: String = "k") throws -> Position {
        try #require(Position(epoch: Array(epoch.utf8), offset: offset))
    }

    private func answer(_ offsets: ClosedRange<Int>?, top: Int, bytes: Int = 10, epoch: String = "k") throws
        -> LogRead.Answer
    {
        let events = try offsets.map { range in
            try range.map { offset in
                ChannelMessage(
                    position: try position(offset, epoch: epoch), event: try #require(LogPagesTests.event), id: nil,
                    data: [UInt8](repeating: 120, count: bytes))
            }
        }
        return LogRead.Answer(position: try position(top, epoch: epoch), events: events ?? [], state: nil)
    }

    private func pages(
        _ order: LogRead.Order = .newest, since: Int, events: Int = 100, bytes: Int = 1_000_000, page: Int = 10
    ) throws -> LogPages {
        LogPages(
            order, since: try position(since), total: LogPages.Bounds(events: events, bytes: bytes),
            page: LogPages.Bounds(events: page, bytes: 5_000))
    }

    private func offsets(_ pages: LogPages) -> [Int] {
        pages.whole?.events.compactMap { $0.position?.offset } ?? []
    }

    /// One call read everything that was missed, so that Redis served nobody else for 14 ms.
    @Test func whatIsMissedIsReadPageByPage() throws {
        var pages = try pages(since: 5)
        #expect(pages.next == LogPages.Bounds(events: 10, bytes: 5_000))
        #expect(pages.take(try answer(21...30, top: 30)) == 21)
        #expect(pages.take(try answer(11...20, top: 33)) == 11)
        #expect(pages.take(try answer(6...10, top: 35)) == nil)
        #expect(offsets(pages) == Array(6...30))
        #expect(pages.whole?.position.offset == 30, "where the first page ends; what came since is told as it happened")
        #expect(pages.whole?.missed(since: try position(5))?.count == 25)
    }

    @Test func nothingMoreIsAskedForThanIsMissing() throws {
        var all = try pages(since: 20)
        #expect(all.take(try answer(21...30, top: 30)) == nil)
        var none = try pages(since: 30)
        #expect(none.take(try answer(nil, top: 30)) == nil)
        var future = try pages(since: 40)
        #expect(future.take(try answer(nil, top: 30)) == nil)
        var other = try pages(since: 5)
        #expect(other.take(try answer(nil, top: 30, epoch: "z")) == nil)
        #expect(offsets(none) + offsets(future) + offsets(other) == [])
    }

    @Test func aLogThatIsCutEndsTheRead() throws {
        var pages = try pages(since: 5)
        #expect(pages.take(try answer(21...30, top: 30)) == 21)
        #expect(pages.take(try answer(18...20, top: 30)) == 18)
        #expect(pages.take(try answer(nil, top: 30)) == nil)
        #expect(pages.whole?.missed(since: try position(5)) == nil)
        #expect(pages.whole?.missed(since: try position(17))?.count == 13, "others stand nearer")
    }

    @Test func anEpochThatBeginsMeanwhileEndsTheRead() throws {
        var pages = try pages(since: 5)
        #expect(pages.take(try answer(21...30, top: 30)) == 21)
        #expect(pages.take(try answer(11...20, top: 40, epoch: "z")) == nil)
        #expect(offsets(pages) == Array(21...30))
        #expect(pages.whole?.missed(since: try position(5)) == nil)
    }

    @Test func theBoundsOfARecoveryHoldOverAllPages() throws {
        var few = try pages(since: 5, events: 15)
        #expect(few.take(try answer(21...30, top: 30)) == 21)
        #expect(few.next.events == 5)
        #expect(few.take(try answer(16...20, top: 30)) == nil)
        var small = try pages(since: 5, bytes: 12 * 266)
        #expect(small.take(try answer(21...30, top: 30)) == 21)
        #expect(small.next.bytes == 2 * 266)
        #expect(small.take(try answer(18...20, top: 30)) == nil, "one more than there is room for")
        #expect(offsets(small) == Array(19...30))
        var large = try pages(since: 5, bytes: 100)
        #expect(large.take(try answer(30...30, top: 30, bytes: 500)) == nil)
        #expect(offsets(large) == [30], "one is always there")
    }

    @Test func aRepairGoesOnByItself() throws {
        var pages = try pages(.oldest, since: 5)
        #expect(pages.take(try answer(6...15, top: 30)) == nil)
        #expect(offsets(pages) == Array(6...15))
    }

    /// A read of one page that was asked for behind one of several would have been answered before it.
    @Test func readsOfATopicAreAnsweredInTheirOrder() throws {
        let turns = ReadOrder()
        let topic = try #require(Topic(Array("shop:1".utf8)))
        let other = try #require(Topic(Array("shop:2".utf8)))
        var answered: [Int] = []
        func turn(_ topic: Topic, _ number: Int) -> LogRead.Completion {
            turns.turn(of: topic) { _ in answered.append(number) }
        }
        let (long, short, third) = (turn(topic, 1), turn(topic, 2), turn(topic, 3))
        let elsewhere = turn(other, 4)
        let result = LogRead.Answer(position: try position(1), events: [], state: nil)
        short(.success(result))
        #expect(answered == [])
        elsewhere(.success(result))
        #expect(answered == [4], "another topic waits for nobody")
        long(.failure(Refusal(.unavailable, "")))
        #expect(answered == [4, 1, 2])
        third(.success(result))
        #expect(answered == [4, 1, 2, 3] && turns.count == 0)
    }

    @Test func aReadThatIsAskedForInAnAnswerHasItsTurn() throws {
        let turns = ReadOrder()
        let topic = try #require(Topic(Array("shop:1".utf8)))
        var answered: [Int] = []
        var again: LogRead.Completion?
        let first = turns.turn(of: topic) { _ in
            answered.append(1)
            again = turns.turn(of: topic) { _ in answered.append(3) }
            again?(.failure(Refusal(.unavailable, "")))
        }
        let second = turns.turn(of: topic) { _ in answered.append(2) }
        first(.failure(Refusal(.unavailable, "")))
        #expect(answered == [1])
        second(.failure(Refusal(.unavailable, "")))
        #expect(answered == [1, 2, 3] && turns.count == 0)
    }
}
