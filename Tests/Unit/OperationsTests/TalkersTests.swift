import Core
import Rights
import Testing

@testable import Operations

/// The heaviest callers keep their places whatever the light ones do, and all are forgotten in time.
@Suite struct TalkersTests {
    private static let ann = Array("ann".utf8)

    @Test func aHeavyCallerStaysAmongManyLightOnes() {
        var table = TalkerTable<Int>(capacity: 8)
        for round in 0..<1_000 {
            table.add(TalkerFigures(events: 1, redisUs: 100), of: -1)
            table.add(TalkerFigures(events: 1), of: round)
        }
        let all = table.all
        #expect(all.count == 8, "no more places than at the beginning")
        #expect(all.first { $0.key == -1 }?.figures == TalkerFigures(events: 1_000, redisUs: 100_000))
    }

    @Test func whatAPayerDidIsCountedUnderItsName() throws {
        let (talkers, address) = (Talkers(), IPAddress(192, 0, 2, 7))
        let topic = try #require(Topic("shop:1"))
        talkers.count(TalkerFigures(events: 1, bytes: 10), .user(Self.ann), namespace: topic.namespace, nowMs: 0)
        talkers.count(TalkerFigures(redisUs: 5), .user(Self.ann), nowMs: 1)
        talkers.count(TalkerFigures(redisUs: 7), .service(Array("kitchen".utf8)), nowMs: 1)
        talkers.count(TalkerFigures(redisUs: 9), .publishable("web", address), nowMs: 1)
        talkers.count(TalkerFigures(redisUs: 9), .crowd, nowMs: 1)
        talkers.refused(.user(Self.ann), at: address, nowMs: 2)
        func figures(_ group: Talkers.Group) -> [String: TalkerFigures] {
            Dictionary(talkers.all(group, nowMs: 3).map { (String(decoding: $0.key, as: UTF8.self), $0.figures) }) {
                $1
            }
        }
        #expect(figures(.user) == ["ann": TalkerFigures(events: 1, bytes: 10, refusals: 1, redisUs: 5)])
        #expect(figures(.namespace) == ["shop": TalkerFigures(events: 1, bytes: 10)])
        #expect(figures(.key) == ["kitchen": TalkerFigures(redisUs: 7), "web": TalkerFigures(redisUs: 9)])
        #expect(figures(.address) == ["192.0.2.7": TalkerFigures(refusals: 1, redisUs: 9)])
    }

    @Test func nothingOfACallerIsLeftAfterTwoWindows() {
        let (talkers, window) = (Talkers(), Talkers.windowMs)
        talkers.count(TalkerFigures(events: 1), .user(Self.ann), nowMs: 0)
        talkers.count(TalkerFigures(events: 1), .user(Self.ann), nowMs: window)
        #expect(talkers.all(.user, nowMs: window).first?.figures.events == 2)
        #expect(talkers.all(.user, nowMs: 2 * window).first?.figures.events == 1)
        #expect(talkers.all(.user, nowMs: 3 * window).isEmpty)
        talkers.count(TalkerFigures(events: 1), .user(Self.ann), nowMs: 10 * window)
        #expect(talkers.all(.user, nowMs: 12 * window).isEmpty)
    }
}
