import Core
import Testing

@testable import Topics

/// A walk over all topics leaves none out that stays, whatever comes and ends between its steps.
@Suite struct TopicWalkTests {
    @Test func noTopicThatStaysIsLeftOut() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20 {
            let shop = try TopicShop()
            var live: [Int: [Joiner]] = [:]
            for number in 0..<100 { live[number] = try shop.members(1, of: number, at: 0) }
            var stays = Set(live.keys)
            var seen: Set<Topic> = []
            var place = shop.table.end
            var next = 100
            while place > 0 {
                place = shop.table.visit(below: place, count: Int.random(in: 1...9, using: &random)) {
                    seen.insert($0.topic)
                }
                for number in live.keys.shuffled(using: &random).prefix(3) {
                    for joiner in live.removeValue(forKey: number) ?? [] {
                        let membership = try #require(joiner.membership)
                        shop.table.leave(joiner, membership.feed, place: membership.place)
                    }
                    stays.remove(number)
                }
                live[next] = try shop.members(1, of: next, at: 0)
                next += 1
                shop.nowMs += 1_000_000
                shop.table.sweep()
            }
            #expect(try stays.allSatisfy { seen.contains(try shop.topic($0)) })
            #expect(shop.table.end == live.count)
        }
    }

    @Test func membersAndTrafficOfATopicAreKnown() throws {
        let shop = try TopicShop()
        _ = try shop.members(3, of: 1, at: 0)
        try shop.event(1, offset: 1, bytes: 100)
        try shop.event(1, offset: nil, bytes: 100)
        shop.table.endBatch()
        var found: [(members: Int, events: Int, bytes: Int)] = []
        _ = shop.table.visit(below: shop.table.end, count: 10) { topic in
            let rate = topic.perMinute(nowMs: shop.nowMs)
            found.append((topic.memberCount, rate.events, rate.bytes))
        }
        #expect(found.count == 1 && found.first?.members == 3)
        #expect(found.first?.events == 4 && found.first?.bytes == 1_162, "two events in 31 seconds")
    }
}
