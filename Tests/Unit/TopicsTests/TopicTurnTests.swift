import Core
import Testing

@testable import Topics

/// When members get what has come, and that nobody gets it twice or out of turn.
@Suite struct TopicTurnTests {
    /// Large are topics with more than so many members.
    private static let slice = 2

    private func shopWithLargeTopic(members: Int) throws -> (TopicShop, [Joiner]) {
        let shop = try TopicShop(sliceMembers: TopicTurnTests.slice)
        return (shop, try shop.members(members, of: 1, at: 0))
    }

    private func isBalanced(_ shop: TopicShop) throws -> Bool { shop.table.report(try shop.topic(1)).isBalanced }

    @Test func theEventsOfATurnComeTogether() throws {
        let shop = try TopicShop()
        let members = try shop.members(3, of: 1, at: 0)
        for offset in 1...3 { try shop.event(1, offset: offset) }
        #expect(members.allSatisfy { $0.events == 0 })
        shop.table.endBatch()
        #expect(members.allSatisfy { $0.batches == [3] } && !shop.table.hasRounds)
        try shop.event(1, offset: 4)
        shop.table.endBatch()
        #expect(members.allSatisfy { $0.batches == [3] && $0.events == 4 }, "one alone needs no batch")
        #expect(try isBalanced(shop))
    }

    @Test func aLargeTopicHasLapsAndASmallOneDoesNotWaitForThem() throws {
        let (shop, large) = try shopWithLargeTopic(members: 5)
        let small = try shop.members(2, of: 2, at: 0)
        try shop.event(1, offset: 1)
        try shop.event(2, offset: 1)
        shop.table.endBatch()
        #expect(small.map(\.events) == [1, 1] && large.allSatisfy { $0.events == 0 })
        #expect(!shop.table.serveSlice() && large.map(\.events) == [1, 1, 0, 0, 0])
        #expect(!shop.table.serveSlice() && large.map(\.events) == [1, 1, 1, 1, 0])
        #expect(shop.table.serveSlice() && large.map(\.events) == [1, 1, 1, 1, 1])
        #expect(!shop.table.hasRounds && !shop.table.serveSlice())
        #expect(try isBalanced(shop))
    }

    /// Whoever's turn it is gets what has come up to then; the next lap is for those who had theirs before.
    @Test func whatComesDuringALapNeedNotWaitForTheNext() throws {
        let (shop, members) = try shopWithLargeTopic(members: 5)
        try shop.event(1, offset: 1)
        shop.table.endBatch()
        _ = shop.table.serveSlice()
        for offset in 2...3 { try shop.event(1, offset: offset) }
        shop.table.endBatch()
        #expect(!shop.table.serveSlice() && shop.table.serveSlice())
        #expect(members.map(\.events) == [1, 1, 3, 3, 3])
        #expect(shop.table.hasRounds)
        shop.finishLaps()
        #expect(members.map(\.events) == [3, 3, 3, 3, 3] && members.map(\.batches) == [[2], [2], [3], [3], [3]])
        #expect(try isBalanced(shop))
    }

    @Test func topicsTakeTurnsByLaps() throws {
        let shop = try TopicShop(sliceMembers: TopicTurnTests.slice)
        let topics = try (1...2).map { try shop.members(3, of: $0, at: 0) }
        for number in 1...2 { try shop.event(number, offset: 1) }
        shop.table.endBatch()
        #expect(!shop.table.serveSlice())
        try shop.event(1, offset: 2)
        shop.table.endBatch()
        #expect(shop.table.serveSlice(), "the first topic's lap")
        #expect(!shop.table.serveSlice() && shop.table.serveSlice(), "the second's, before the first has another")
        #expect(topics[1].allSatisfy { $0.events == 1 } && topics[0].map(\.events) == [1, 1, 2])
        shop.finishLaps()
        #expect(topics[0].allSatisfy { $0.events == 2 })
    }

    @Test func whoLeavesGetsWhatCameBeforeAndSoDoesWhoTakesThePlace() throws {
        let (shop, members) = try shopWithLargeTopic(members: 5)
        for offset in 1...2 { try shop.event(1, offset: offset) }
        shop.table.endBatch()
        _ = shop.table.serveSlice()
        let leaving = try #require(members[0].membership)
        shop.table.leave(members[0], leaving.feed, place: leaving.place)
        #expect(members.map(\.events) == [2, 2, 0, 0, 2], "the last is before those whose turn comes")
        try shop.event(1, offset: 3)
        shop.table.endBatch()
        shop.finishLaps()
        #expect(members.map(\.events) == [2, 3, 3, 3, 3])
        #expect(try isBalanced(shop))
    }

    @Test func aLapEndsWhenEverybodyHasLeft() throws {
        let (shop, members) = try shopWithLargeTopic(members: 3)
        try shop.event(1, offset: 1)
        shop.table.endBatch()
        _ = shop.table.serveSlice()
        try shop.event(1, offset: 2)
        for member in members {
            let membership = try #require(member.membership)
            shop.table.leave(member, membership.feed, place: membership.place)
        }
        #expect(members.allSatisfy { $0.events == 2 })
        #expect(shop.table.serveSlice() && shop.table.serveSlice() && !shop.table.hasRounds)
        #expect(try isBalanced(shop))
    }

    /// A plain event has no position by which a double could be told.
    @Test func whoComesGetsNothingTwice() throws {
        let (shop, members) = try shopWithLargeTopic(members: 3)
        let late = try shop.join(1)
        try shop.event(1, offset: nil)
        try shop.event(1, offset: 1)
        try shop.answer(0)
        #expect(late.subscribed == 1 && late.events == 2, "they follow its answer")
        shop.table.endBatch()
        shop.finishLaps()
        #expect(late.events == 2 && members.allSatisfy { $0.events == 2 })
        #expect(try isBalanced(shop))
    }

    @Test func aBacklogsStorageIsGivenBack() throws {
        let (shop, members) = try shopWithLargeTopic(members: 3)
        for offset in 1...1_000 { try shop.event(1, offset: offset) }
        let feed = try #require(members[0].membership).feed
        #expect(feed.round.events.capacity >= 1_000)
        shop.table.endBatch()
        shop.finishLaps()
        #expect(members.allSatisfy { $0.events == 1_000 })
        #expect(feed.round.isEmpty && feed.round.bytes == 0 && feed.round.events.capacity <= FanoutRound.keptCapacity)
    }

    /// A slice was measured by all that is kept, up to two laps' events, and was half as large as it may be.
    @Test func aSliceIsAsLargeAsWhatItsMembersGet() throws {
        let (shop, members) = try shopWithLargeTopic(members: 3)
        for offset in 1...4 { try shop.event(1, offset: offset) }
        shop.table.endBatch()
        let feed = try #require(members[0].membership).feed
        #expect(feed.bytesOfNextBatch == feed.round.bytes && feed.round.bytes > 0)
        #expect(!shop.table.serveSlice())
        for offset in 5...8 { try shop.event(1, offset: offset) }
        #expect(shop.table.serveSlice() && members.map(\.events) == [4, 4, 8])
        for offset in 9...10 { try shop.event(1, offset: offset) }
        #expect(!shop.table.serveSlice() && members.map(\.events) == [10, 10, 8])
        #expect(feed.round.events.count == 6 && feed.bytesOfNextBatch == feed.round.bytes / 3)
        shop.finishLaps()
        #expect(members.allSatisfy { $0.events == 10 } && feed.bytesOfNextBatch == 0)
    }

    /// A lap that cannot keep up leaves what came to the members' queues and their bounds.
    @Test func eventsBeyondTheBoundAreHandedAtOnce() throws {
        let (shop, members) = try shopWithLargeTopic(members: 3)
        let bytesMax = Limits().outboundBytesMax
        for offset in 1...2 { try shop.event(1, offset: offset, bytes: bytesMax / 2) }
        #expect(members.allSatisfy { $0.events == 1 })
        shop.table.endBatch()
        shop.finishLaps()
        #expect(members.allSatisfy { $0.events == 2 })
        #expect(try isBalanced(shop))
    }
}

/// The rests between laps.
@Suite struct FanoutRestTests {
    private let alone = FanoutShare(own: 1_000, all: 1_000)

    @Test func aRestIsAQuarterOfTheLap() {
        var rest = FanoutPacing()
        #expect(rest.isOver(nowUs: 0))
        rest.workBegins(nowUs: 1_000)
        rest.workBegins(nowUs: 5_000)
        #expect(rest.isOver(nowUs: 5_000), "slices of one lap follow one another")
        rest.begins(nowUs: 9_000, alone)
        #expect(!rest.isOver(nowUs: 10_999) && rest.isOver(nowUs: 11_000) && rest.endMs == 12)
        rest.begins(nowUs: 20_000, alone)
        #expect(rest.isOver(nowUs: 20_000), "there was no lap")
    }

    @Test func aRestHasABound() {
        var rest = FanoutPacing()
        rest.workBegins(nowUs: 0)
        rest.begins(nowUs: 3_000_000, alone)
        #expect(rest.isOver(nowUs: 3_000_000 + FanoutPacing.usMax))
        rest.workBegins(nowUs: 4_000_000)
        rest.begins(nowUs: 3_999_000, alone)
        #expect(rest.isOver(nowUs: 3_999_000), "a clock that goes back costs no rest")
    }

    /// With two shards each lap was half as long, and so was the rest: a write had fewer events.
    @Test func aLapAndItsRestTakeAsLongWithTwoShardsAsWithOne() {
        var (whole, half) = (FanoutPacing(), FanoutPacing())
        whole.workBegins(nowUs: 0)
        whole.begins(nowUs: 6_000, alone)
        half.workBegins(nowUs: 0)
        half.begins(nowUs: 3_000, FanoutShare(own: 500, all: 1_000))
        for nowUs in [7_499, 7_500] { #expect(whole.isOver(nowUs: nowUs) == half.isOver(nowUs: nowUs)) }
        #expect(!half.isOver(nowUs: 7_499) && half.isOver(nowUs: 7_500))
    }

    @Test func theRestForOtherShardsHasABound() {
        var rest = FanoutPacing()
        rest.workBegins(nowUs: 0)
        rest.begins(nowUs: 3_000_000, FanoutShare(own: 1, all: 1_000_000))
        #expect(rest.isOver(nowUs: 3_000_000 + FanoutPacing.othersUsMax + FanoutPacing.usMax))
        rest.workBegins(nowUs: 4_000_000)
        rest.begins(nowUs: 4_000_400, FanoutShare(own: 0, all: 0))
        #expect(rest.isOver(nowUs: 4_000_500), "all members have left")
    }

    @Test func shardsCountEachOthersMembersUntilTheirRoundsEnd() throws {
        let crowds = FanoutCrowds()
        let (topic, other) = (try #require(Topic("shop:1")), try #require(Topic("shop:2")))
        #expect(crowds.share(of: topic, shard: 0, members: 500, nowMs: 0) == FanoutShare(own: 500, all: 500))
        #expect(crowds.share(of: topic, shard: 1, members: 300, nowMs: 10) == FanoutShare(own: 300, all: 800))
        #expect(crowds.share(of: other, shard: 1, members: 400, nowMs: 10) == FanoutShare(own: 400, all: 400))
        #expect(crowds.share(of: topic, shard: 0, members: 600, nowMs: 20) == FanoutShare(own: 600, all: 900))
        let later = 10 + FanoutCrowds.lifeMs
        #expect(crowds.share(of: topic, shard: 0, members: 600, nowMs: later) == FanoutShare(own: 600, all: 600))
        crowds.sweep(nowMs: later + FanoutCrowds.lifeMs)
        #expect(crowds.share(of: topic, shard: 1, members: 1, nowMs: 20) == FanoutShare(own: 1, all: 1))
    }
}
