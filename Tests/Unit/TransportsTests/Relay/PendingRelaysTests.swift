import Core
import Testing

@testable import Transports

/// Requests that went to other nodes: answered, held, given up.
@Suite struct HopBookTests {
    private let one = ShardAddress(node: Array("one".utf8), shard: 0)
    private let two = ShardAddress(node: Array("two".utf8), shard: 0)
    private var book = PendingRelays<String>(
        .init(requestsMax: 3, bytesMax: 100, answerMs: 20, quietMs: 20, silentMs: 60))

    /// What the time brings, as words.
    private func words(_ steps: [PendingRelays<String>.Step]) -> [String] {
        steps.map { step in
            switch step {
            case .ask(let home): "ask " + String(decoding: home.node, as: UTF8.self)
            case .check(let home, let numbers):
                "check " + String(decoding: home.node, as: UTF8.self) + " \(numbers.sorted())"
            case .expired(_, _, let waiter): "expired " + waiter
            case .gone(let waiter): "gone " + waiter
            }
        }.sorted()
    }

    @Test mutating func anAnswerComesOnceAndFromWhomItWasAsked() {
        #expect(book.asked(1, of: one, bytes: 0, "a", nowMs: 0) == true)
        #expect(book.answered(1, by: two) == nil)
        #expect(book.answered(2, by: one) == nil)
        #expect(book.answered(1, by: one) == "a")
        #expect(book.answered(1, by: one) == nil)
        #expect(book.count == 0 && book.due(nowMs: 1_000).isEmpty)
    }

    @Test mutating func whatIsNotAnsweredInTimeIsGivenUp() {
        #expect(book.asked(1, of: one, bytes: 0, "a", nowMs: 0) == true)
        #expect(words(book.due(nowMs: 19)).isEmpty)
        #expect(words(book.due(nowMs: 20)) == ["ask one", "expired a"])
        #expect(book.answered(1, by: one) == nil)
    }

    @Test mutating func whatIsHeldWaitsAsLongAsItsNodeLives() {
        #expect(book.asked(1, of: one, bytes: 0, "a", nowMs: 0) == true)
        book.held([1, 9], by: two, nowMs: 0)
        book.held([1, 9], by: one, nowMs: 0)
        for nowMs in stride(from: 0, to: 1_000, by: 10) {
            for case .ask(let home) in book.due(nowMs: nowMs) { book.heard(home, nowMs: nowMs + 1) }
        }
        #expect(book.count == 1)
        #expect(words(book.due(nowMs: 1_020)) == ["ask one", "check one [1]"])
        #expect(words(book.due(nowMs: 1_039)).isEmpty)
        #expect(words(book.due(nowMs: 1_060)) == ["gone a"])
        #expect(book.count == 0)
    }

    /// The answer to a fetch was lost while Redis was away, and its node lived on: the client waited until its own patience ended.
    @Test mutating func whetherARequestIsStillHeldIsAskedAgainAndAgain() {
        for (number, waiter) in [(1, "a"), (2, "b"), (3, "c")] {
            #expect(book.asked(number, of: number == 3 ? two : one, bytes: 0, waiter, nowMs: 0) == true)
        }
        book.held([1, 2], by: one, nowMs: 10)
        book.held([3], by: two, nowMs: 11)
        #expect(!words(book.due(nowMs: 69)).contains { $0.hasPrefix("check") })
        book.heard(one, nowMs: 69)
        book.heard(two, nowMs: 69)
        #expect(words(book.due(nowMs: 70)) == ["check one [1, 2]"])
        #expect(words(book.due(nowMs: 71)) == ["check two [3]"])
        #expect(book.answered(1, by: one) == "a")
        book.heard(one, nowMs: 125)
        book.heard(two, nowMs: 125)
        #expect(words(book.due(nowMs: 130)) == ["check one [2]"])
    }

    /// A process that was stopped for a while has heard nobody, and asks before it believes that they are gone.
    @Test mutating func nobodyIsGoneWhoWasNotAsked() {
        #expect(book.asked(1, of: one, bytes: 0, "a", nowMs: 0) == true)
        book.held([1], by: one, nowMs: 0)
        #expect(words(book.due(nowMs: 5_000)) == ["ask one", "check one [1]"])
        book.heard(one, nowMs: 5_001)
        #expect(words(book.due(nowMs: 5_010)).isEmpty)
    }

    @Test mutating func aNodeThatNobodyHearsIsGoneWithAllThatWaits() {
        #expect(book.asked(1, of: one, bytes: 0, "a", nowMs: 0) == true)
        #expect(book.asked(2, of: one, bytes: 0, "b", nowMs: 0) == true)
        #expect(book.asked(3, of: two, bytes: 0, "c", nowMs: 0) == true)
        #expect(book.gone(one) == ["a", "b"])
        #expect(book.gone(one) == [])
        #expect(book.waiting.map(\.waiter) == ["c"])
    }

    @Test mutating func requestsAndBytesHaveBounds() {
        #expect(book.asked(1, of: one, bytes: 60, "a", nowMs: 0) == true)
        #expect(book.asked(2, of: one, bytes: 41, "b", nowMs: 0) == false)
        #expect(book.asked(2, of: one, bytes: 40, "b", nowMs: 0) == true)
        #expect(book.asked(3, of: one, bytes: 0, "c", nowMs: 0) == true)
        #expect(book.asked(4, of: one, bytes: 0, "d", nowMs: 0) == false)
        #expect(book.dropped(1) == "a")
        #expect(book.asked(3, of: one, bytes: 0, "again", nowMs: 0) == false)
        #expect(book.asked(4, of: two, bytes: 60, "d", nowMs: 0) == true)
    }

    // MARK: Order

    private func taken(_ order: inout RelayOrder, _ messages: [(UInt64, ShardAddress)]) -> [Bool] {
        messages.map { order.take($0.0, from: $0.1) }
    }

    @Test func whatWasSaidBeforeOrTwiceIsNotTaken() {
        var order = RelayOrder(sendersMax: 2)
        #expect(taken(&order, [(3, one), (3, one), (2, one), (9, one), (1, two)]) == [true, false, false, true, true])
    }

    @Test func theSenderThatWasSilentLongestIsForgotten() {
        var order = RelayOrder(sendersMax: 2)
        let three = ShardAddress(node: Array("three".utf8), shard: 0)
        #expect(taken(&order, [(1, one), (1, two), (2, one), (1, three)]) == [true, true, true, true])
        #expect(order.count == 2)
        #expect(taken(&order, [(2, one), (1, two)]) == [false, true])
    }
}
