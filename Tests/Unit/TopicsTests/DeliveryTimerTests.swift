import Core
import Operations
import Testing

@testable import Topics

/// The timer of deliveries times each publish of the node once, from its read to the last member.
@Suite struct DeliveryTimerTests {
    private final class Feed {}
    private let publishes = TimedPublishes()
    private let feed = Feed()

    private func topic(_ number: Int) throws -> Topic { try #require(Topic("shop:\(number)")) }

    private func message(_ data: String) throws -> ChannelMessage {
        ChannelMessage(position: nil, event: try #require(EventName("e")), id: nil, data: Array(data.utf8))
    }

    @Test func anEventIsTimedUntilEveryMemberHasIt() throws {
        var timer = DeliveryTimer<Feed>()
        #expect(!timer.isConcerned(publishes.number))
        publishes.offer(try topic(1), readUs: 1_000, data: Array("a".utf8))
        #expect(timer.isConcerned(publishes.number))
        // Neither another topic's event nor other data of the same topic is the published one.
        timer.came(try message("a"), of: try topic(2), feed, number: 3, publishes)
        timer.came(try message("b"), of: try topic(1), feed, number: 4, publishes)
        #expect(timer.isConcerned(publishes.number) && !timer.isHanding)
        timer.came(try message("a"), of: try topic(1), feed, number: 5, publishes)
        #expect(timer.isHanding && !timer.isConcerned(publishes.number))
        #expect(timer.ended(nowUs: 2_000) { $0 === feed && $1 > 5 } == nil)
        #expect(timer.isHanding)
        #expect(timer.ended(nowUs: 3_500) { $0 === feed && $1 == 5 } == 2_500)
        // The same publish is not timed again.
        timer.came(try message("a"), of: try topic(1), feed, number: 6, publishes)
        #expect(!timer.isHanding)
    }

    @Test func aNewerPublishTakesThePlaceOfOneThatDidNotCome() throws {
        var timer = DeliveryTimer<Feed>()
        publishes.offer(try topic(1), readUs: 0, data: Array("a".utf8))
        timer.came(try message("x"), of: try topic(3), feed, number: 0, publishes)
        publishes.offer(try topic(2), readUs: 60_000, data: Array("b".utf8))
        timer.came(try message("b"), of: try topic(2), feed, number: 1, publishes)
        #expect(timer.ended(nowUs: 61_000) { _, _ in true } == 1_000)
    }

    @Test func anEventThatIsFarTooLateIsNotCounted() throws {
        var timer = DeliveryTimer<Feed>()
        publishes.offer(try topic(1), readUs: 0, data: Array("a".utf8))
        timer.came(try message("a"), of: try topic(1), feed, number: 0, publishes)
        #expect(timer.ended(nowUs: 11_000_000) { _, _ in true } == nil)
        #expect(!timer.isHanding)
    }

    @Test func fewPublishesAreTimed() throws {
        for ms in 0..<1_000 { publishes.offer(try topic(1), readUs: ms * 1_000, data: []) }
        #expect(publishes.number == 20)
        #expect(publishes.latest?.readUs == 950_000)
    }
}
