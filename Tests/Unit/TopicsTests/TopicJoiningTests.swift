import Commands
import Core
import Rights
import Testing

@testable import Topics

/// Joins of many at once, when the store refuses from inside the question and when reads wait for their turn.
@Suite struct TopicJoiningTests {
    @Test func aStoreThatRefusesAtOnceRefusesAllWhoWait() throws {
        let shop = try TopicShop()
        let joiners = try (0..<3).map { _ in try shop.join(1) }
        shop.reader.refusesAtOnce = true
        shop.table.confirmed(try shop.topic(1))
        #expect(joiners.map(\.refusals) == [1, 1, 1])
        shop.reader.refusesAtOnce = false
        let later = try (0..<2).map { _ in try shop.join(1) }
        try shop.answer(7)
        // The second came when the first had been asked for.
        try shop.answer(7)
        #expect(later.map(\.subscribed) == [1, 1] && later.map(\.membership?.place) == [0, 1])
        #expect(shop.table.report(try shop.topic(1)).isBalanced)
    }

    /// One read answered all who waited, which would have told each of them the first one's state.
    @Test func readsOfAPersonalTopicAreNotShared() throws {
        let shop = try TopicShop()
        shop.reader.isPersonal = true
        let names = ["ann", "ann", "bob", "ann"].map { Array($0.utf8) }
        let joiners = try names.map { name in
            let joiner = try shop.join(1)
            let identity = try #require(Identity(user: name, role: .user, topics: [], expiresAt: 0))
            joiner.asker = ReadCaller(caller: CommandCaller(.user(identity)), payer: .crowd)
            return joiner
        }
        shop.table.confirmed(try shop.topic(1))
        #expect(!shop.table.isCoalesced(try shop.topic(1)))
        try shop.answer(7)
        #expect(joiners.map(\.subscribed) == [1, 1, 0, 0])
        shop.reader.answerOldest(.failure(Refusal(named: "banned", status: 423, "no")))
        #expect(joiners.map(\.refusals) == [0, 0, 1, 0])
        try shop.event(1, offset: 8)
        try shop.answer(8)
        #expect(joiners.map(\.subscribed) == [1, 1, 0, 1] && shop.reader.askers == [names[0], names[2], names[3]])
        #expect(shop.table.report(try shop.topic(1)).isBalanced)
    }

    /// Each used to be refused from inside the refusal of the one before, which the stack of a thread does not hold.
    @Test func aLinkThatGoesDownRefusesHoweverManyReadsWait() throws {
        let shop = try TopicShop()
        let joiners = try (0..<30_000).map { number in
            let joiner = try shop.join(number)
            shop.table.confirmed(try shop.topic(number))
            return joiner
        }
        #expect(shop.reader.asked.count == TopicShop.readsMax)
        shop.reader.refusesAtOnce = true
        while !shop.reader.asked.isEmpty { shop.reader.answerOldest(.failure(Refusal(.unavailable, "down"))) }
        #expect(joiners.allSatisfy { $0.refusals == 1 })
    }

    /// The same for reads that are over when their turn comes.
    @Test func readsThatAreOverPassTheirTurnHoweverManyTheyAre() throws {
        let shop = try TopicShop()
        for number in 0..<30_000 {
            _ = try shop.join(number)
            shop.table.confirmed(try shop.topic(number))
        }
        shop.table.lost()
        try shop.answer(1)
        #expect(shop.reader.asked.count == TopicShop.readsMax - 1)
        shop.table.confirmed(try shop.topic(29_999))
        #expect(shop.reader.asked.count == TopicShop.readsMax)
    }

    @Test func eventsDoNotTakeAJoinsTurnAway() throws {
        let shop = try TopicShop()
        for number in 0..<TopicShop.readsMax {
            _ = try shop.join(number)
            shop.table.confirmed(try shop.topic(number))
        }
        let busy = try shop.topic(TopicShop.readsMax)
        let joiner = try shop.join(TopicShop.readsMax)
        shop.table.confirmed(busy)
        _ = try shop.join(TopicShop.readsMax + 1)
        shop.table.confirmed(try shop.topic(TopicShop.readsMax + 1))
        for offset in 1...20 { try shop.event(TopicShop.readsMax, offset: offset) }
        try shop.answer(0)
        #expect(shop.reader.asked.last?.topic == busy, "who came first is asked for first")
        while shop.reader.asked.first?.topic != busy { try shop.answer(0) }
        try shop.answer(20)
        #expect(joiner.subscribed == 1 && joiner.events == 0)
    }

    @Test func whoWaitsTooLongIsRefusedOnceAndWhoCameLaterWaitsOn() throws {
        let shop = try TopicShop()
        let limits = Limits()
        let early = try (0..<1_000).map { _ in try shop.join(1) }
        shop.nowMs += 500
        let late = try shop.join(1)
        shop.nowMs += limits.redisConnectMs + 2 * limits.redisCallMs - 500
        shop.table.sweep()
        #expect(early.allSatisfy { $0.refusals == 1 } && late.refusals == 0)
        shop.table.confirmed(try shop.topic(1))
        try shop.answer(3)
        #expect(late.subscribed == 1 && late.membership?.place == 0)
    }
}
