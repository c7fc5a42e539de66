import Core
import Testing

@testable import Topics

/// What a feed does with events that the log does not have.
@Suite struct TopicRepairTests {
    /// A forged position made a read of the log at every round trip, for ever: each answer found the held event still
    /// ahead of the log and asked again.
    @Test(arguments: [("a", 1_000), ("a", Int.max), ("other", 1), ("a", 2)])
    func aForgedPositionCostsOneRead(_ epoch: String, _ offset: Int) throws {
        let shop = try TopicShop()
        let members = try shop.members(2, of: 1, at: 0)
        try shop.event(1, offset: offset, epoch: epoch)
        #expect(shop.reader.asked.count == 1)
        try shop.answer(0)
        #expect(shop.reader.asked.isEmpty)
        try shop.event(1, offset: 1)
        shop.table.endBatch()
        #expect(members.allSatisfy { $0.events == 1 })
        let report = shop.table.report(try shop.topic(1))
        #expect(report.late == 1 && report.came == 1 && report.isBalanced)
    }

    /// However many come while the log is read, they cost one read more.
    @Test func forgedPositionsThatComeDuringAReadShareTheNext() throws {
        let shop = try TopicShop()
        _ = try shop.members(1, of: 1, at: 0)
        for offset in 1_000..<1_004 { try shop.event(1, offset: offset) }
        #expect(shop.reader.asked.count == 1)
        try shop.answer(0)
        #expect(shop.reader.asked.count == 1)
        try shop.answer(0)
        #expect(shop.reader.asked.isEmpty)
        #expect(shop.table.report(try shop.topic(1)).late == 4)
    }

    /// While the two links lead to different servers, an event is on the channel that the other server's log lacks.
    @Test func anEventThatTheLogDidNotHaveIsAskedForAgainByTheNextConnection() throws {
        let shop = try TopicShop()
        let members = try shop.members(1, of: 1, at: 0)
        try shop.event(1, offset: 1, epoch: "b")
        try shop.answer(0)
        #expect(shop.reader.asked.isEmpty && members[0].gaps == 0)
        shop.table.relinked()
        #expect(shop.reader.asked.count == 1)
        try shop.answer(1, epoch: "b")
        #expect(members[0].gaps == 1, "the epoch's start is told, and what it has is fetched from there")
        try shop.answer(1, epoch: "b", events: [1])
        #expect(members[0].events == 1)
        shop.table.relinked()
        #expect(shop.reader.asked.isEmpty, "once")
        #expect(shop.table.report(try shop.topic(1)).isBalanced)
    }

    /// The death of a master ends the epochs of all of its topics, and few of them have events of the new one yet.
    ///
    /// Each was read twice, and a hundred thousand topics were live again later than they had to be.
    @Test func anEpochWithoutEventsIsToldAfterOneRead() throws {
        let shop = try TopicShop()
        let members = try shop.members(2, of: 1, at: 5)
        shop.table.lost(try shop.topic(1))
        shop.table.confirmed(try shop.topic(1))
        #expect(shop.reader.asked.count == 1)
        // It came behind the read, and is not lost.
        try shop.event(1, offset: 1, epoch: "b")
        try shop.answer(0, epoch: "b")
        #expect(shop.reader.asked.isEmpty)
        shop.table.endBatch()
        #expect(members.allSatisfy { $0.gaps == 1 && $0.events == 1 })
        let report = shop.table.report(try shop.topic(1))
        #expect(report.resets == 1 && report.came == 1 && report.isBalanced)
    }
}
