import Core
import Operations
import Testing

@testable import Topics

/// The timer of deliveries times publishes of the node, from their read to the last member.
@Suite struct DeliveryTimerTests {
    private final class Feed {}
    private let publishes = TimedPublishes()
    private let feeds = [Feed(), Feed(), Feed()]

    private func topic(_ number: Int) throws -> Topic { try #require(Topic("shop:\(number)")) }

    private func message(_ data: String, _ name: String = "e", id: String? = nil) throws -> ChannelMessage {
        ChannelMessage(
            position: nil, event: try #require(EventName(name)), id: id.flatMap { MessageID(Array($0.utf8)) },
            data: Array(data.utf8))
    }

    /// Offers a publish that was read at `readUs`, at `nowUs` or at once.
    private func offer(
        _ number: Int, _ data: String, _ name: String = "e", id: String? = nil, readUs: Int, nowUs: Int? = nil
    ) throws {
        let message = try message(data, name, id: id)
        publishes.offer(
            try topic(number), message.event, message.id, data: message.data, readUs: readUs, nowUs: nowUs ?? readUs)
    }

    /// Looks at an event of a topic as a shard does; only the first two topics have members.
    private func came(
        _ timer: inout DeliveryTimer<Feed>, _ message: ChannelMessage, of number: Int, at place: Int, nowUs: Int = 0
    ) throws {
        guard timer.isConcerned(publishes.number) else { return }
        let known = [try topic(0): feeds[0], try topic(1): feeds[1]]
        timer.look(at: publishes, nowUs: nowUs) { known[$0] }
        timer.came(message, feeds[number], number: place)
    }

    /// The latencies recorded at the end of a tick.
    private func ended(
        _ timer: inout DeliveryTimer<Feed>, nowUs: Int, isHanded: (Feed, Int) -> Bool = { _, _ in true }
    ) -> [Int] {
        var found: [Int] = []
        timer.ended(nowUs: nowUs, isHanded: isHanded, record: { found.append($0) })
        return found
    }

    @Test func anEventIsTimedUntilEveryMemberHasIt() throws {
        var timer = DeliveryTimer<Feed>()
        #expect(!timer.isConcerned(publishes.number))
        try offer(1, "a", readUs: 1_000)
        #expect(timer.isConcerned(publishes.number))
        // Neither another topic's event nor other data of the same topic is the published one.
        try came(&timer, try message("a"), of: 0, at: 3)
        try came(&timer, try message("b"), of: 1, at: 4)
        #expect(timer.isConcerned(publishes.number) && !timer.isHanding)
        try came(&timer, try message("a"), of: 1, at: 5)
        #expect(timer.isHanding && !timer.isConcerned(publishes.number))
        #expect(ended(&timer, nowUs: 2_000) { $0 === feeds[1] && $1 > 5 }.isEmpty)
        #expect(timer.isHanding)
        #expect(ended(&timer, nowUs: 3_500) { $0 === feeds[1] && $1 == 5 } == [2_500])
        // The same publish is not timed again.
        try came(&timer, try message("a"), of: 1, at: 6)
        #expect(!timer.isHanding)
    }

    /// Publishes are offered every 50 ms; each event comes two seconds later, when 40 newer ones were offered.
    ///
    /// A newer publish took the place of the awaited one, so no slow event was ever counted.
    @Test func slowEventsAreCountedWhileNewerOnesArePublished() throws {
        var timer = DeliveryTimer<Feed>()
        var counted: [Int] = []
        for step in 0..<100 {
            try offer(step % 2, "\(step)", readUs: step * 50_000)
            // An event of a node elsewhere: the shard looks at each new publish.
            try came(&timer, try message("elsewhere"), of: 0, at: step)
            guard step >= 40 else { continue }
            try came(&timer, try message("\(step - 40)"), of: step % 2, at: step)
            counted += ended(&timer, nowUs: step * 50_000)
        }
        #expect(counted == Array(repeating: 2_000_000, count: 60))
    }

    /// A publish that had waited for a call of Redis was not taken, since it was read before the last one taken.
    @Test func aPublishThatWaitedIsTakenByTheTimeOfItsOffer() throws {
        var timer = DeliveryTimer<Feed>()
        try offer(0, "fast", readUs: 3_000_000)
        try offer(1, "slow", readUs: 1_000_000, nowUs: 3_050_000)
        try came(&timer, try message("slow"), of: 1, at: 0)
        #expect(ended(&timer, nowUs: 3_060_000) == [2_060_000])
    }

    /// Events that came after more than ten seconds were dropped, which are the slowest of all.
    @Test func anEventThatIsFarTooLateIsCounted() throws {
        var timer = DeliveryTimer<Feed>()
        try offer(1, "a", readUs: 0)
        try came(&timer, try message("x"), of: 0, at: 0)
        try came(&timer, try message("a"), of: 1, at: 0, nowUs: 11_000_000)
        #expect(ended(&timer, nowUs: 12_000_000) == [12_000_000])
    }

    @Test func anEventThatNeverComesIsGivenUp() throws {
        var timer = DeliveryTimer<Feed>()
        try offer(1, "a", readUs: 0)
        try came(&timer, try message("x"), of: 0, at: 0)
        #expect(timer.isConcerned(publishes.number))
        try came(&timer, try message("x"), of: 0, at: 1, nowUs: DeliveryTimer<Feed>.patienceUs + 1)
        #expect(!timer.isConcerned(publishes.number))
    }

    /// Only the data were compared: another event with the same data ended the wait.
    @Test func anotherNameOrIDIsAnotherEvent() throws {
        var timer = DeliveryTimer<Feed>()
        try offer(1, "a", "moved", id: "1", readUs: 0)
        try came(&timer, try message("a", "moved", id: "2"), of: 1, at: 0)
        try came(&timer, try message("a", "left", id: "1"), of: 1, at: 1)
        try came(&timer, try message("a", "moved"), of: 1, at: 2)
        #expect(!timer.isHanding)
        try came(&timer, try message("a", "moved", id: "1"), of: 1, at: 3)
        #expect(timer.isHanding)
    }

    @Test func aTopicWithoutMembersHereIsNotAwaited() throws {
        var timer = DeliveryTimer<Feed>()
        try offer(2, "a", readUs: 0)
        try came(&timer, try message("x"), of: 0, at: 0)
        #expect(!timer.isConcerned(publishes.number))
    }

    @Test func fewPublishesAreTimedAndABoundedNumberIsKept() throws {
        for ms in 0..<1_000 { try offer(1, "", readUs: ms * 1_000) }
        #expect(publishes.number == 20)
        #expect(publishes.taken(after: 18).publishes.map(\.readUs) == [900_000, 950_000])
        for step in 0..<300 { try offer(1, "", readUs: 1_000_000 + step * 100_000) }
        let (kept, number) = publishes.taken(after: 0)
        #expect(kept.count == 256 && kept.last?.readUs == 30_900_000 && number == 320)
        var timer = DeliveryTimer<Feed>()
        for place in 0..<300 { try came(&timer, try message(""), of: 1, at: place, nowUs: 31_000_000) }
        #expect(ended(&timer, nowUs: 31_000_000).count == 64)
    }
}
