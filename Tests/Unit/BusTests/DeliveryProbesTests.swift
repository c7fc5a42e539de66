import FoundationEssentials
import RedisLink
import TestSupport
import Testing

@testable import Bus
@testable import Operations

private let one = Array(repeating: UInt8(ascii: "1"), count: 40)
private let other = Array(repeating: UInt8(ascii: "2"), count: 40)

/// Probes of two shards, interval 100 and timeout 300, everything up at time 0.
private func connected(shards: Int = 2) -> DeliveryProbes {
    var probes = DeliveryProbes(shards: shards, intervalMs: 100, timeoutMs: 300)
    for shard in 0..<shards { probes.subscriber(shard, .up(runID: one), nowMs: 0) }
    for shard in 0..<shards { probes.calls(shard, .up(runID: one), nowMs: 0) }
    for shard in 0..<shards { probes.subscriberLive(shard) }
    return probes
}

extension DeliveryProbes {
    fileprivate mutating func due(_ nowMs: Int) -> [Step] { due(nowMs: nowMs, resumedMs: .min) }
    /// A shard's number returns, at one shard or at both; whether all awaited it.
    fileprivate mutating func back(_ number: Int, _ publisher: Int, _ nowMs: Int, at shards: [Int] = [0, 1]) -> Bool {
        var areAwaited = true
        for shard in shards {
            areAwaited = returned(number, of: publisher, at: shard, nowMs: nowMs) && areAwaited
        }
        return areAwaited
    }
    fileprivate var told: [String] {
        conditions.map { "\($0.part.name)\($0.part.shard.map { " \($0)" } ?? "") \($0.reason.label)" }
    }
}

@Suite struct DeliveryProbesTests {
    @Test func numbersThatComeBackAreFollowedByTheNextAfterTheInterval() {
        var probes = connected()
        #expect(probes.due(0) == [.send(number: 1, shards: [0, 1])])
        #expect(probes.told == ["subscriber 0 unproven", "subscriber 1 unproven"])
        #expect(probes.provenMs == nil)
        #expect(probes.back(2, 0, 5) == false)
        #expect(probes.back(1, 2, 5) == false)
        #expect(probes.back(1, -1, 5) == false)
        #expect(probes.back(1, 0, 5, at: [2]) == false)
        #expect(probes.back(1, 0, 5) == true)
        #expect(probes.back(1, 0, 5) == false, "once")
        #expect(probes.told == ["shard-1 unproven"])
        #expect(probes.back(1, 1, 7) == true)
        #expect(probes.told == [])
        #expect(probes.provenMs == 5, "the link that waits longest")
        #expect(probes.due(99) == [])
        #expect(probes.due(100) == [.send(number: 2, shards: [0, 1])])
    }

    /// A full mailbox took the number away: the link has not been tried.
    @Test func aShardThatWasNotAskedIsNotConvicted() {
        var probes = connected()
        _ = probes.due(0)
        #expect(probes.back(1, 0, 1) == true)
        probes.undelivered(shard: 1, nowMs: 2)
        probes.undelivered(shard: 7, nowMs: 2)
        #expect(probes.due(3) == [.send(number: 2, shards: [1])])
        #expect(probes.due(150) == [.send(number: 3, shards: [0])])
        #expect(probes.back(3, 0, 151) == true)
        #expect(probes.due(302) == [.send(number: 4, shards: [0])])
        #expect(probes.back(4, 0, 302) == true)
        #expect(probes.due(303) == [.reconnect([.shard(1)], .probeLost)], "asked again, and lost")
    }

    @Test func oneShardsLossConvictsItsLinkAlone() {
        var probes = connected()
        _ = probes.due(0)
        #expect(probes.back(1, 0, 1) == true)
        #expect(probes.due(100) == [.send(number: 2, shards: [0])])
        #expect(probes.back(2, 0, 101) == true)
        #expect(probes.due(299) == [.send(number: 3, shards: [0])])
        #expect(probes.due(300) == [.reconnect([.shard(1)], .probeLost)])
        #expect(probes.told == ["shard-1 probe_lost"])
        #expect(probes.back(1, 1, 301) == false, "too late")
        probes.calls(1, .down(RedisFailure(.timedOut)), nowMs: 310)
        #expect(probes.told == ["shard-1 probe_lost"], "its end is our doing")
        probes.calls(1, .down(RedisFailure(.disconnected)), nowMs: 320)
        #expect(probes.told == ["shard-1 disconnected"], "a dial of another outcome is news")
        probes.calls(1, .up(runID: one), nowMs: 330)
        #expect(probes.told == ["shard-1 unproven"])
        #expect(probes.due(330) == [.send(number: 4, shards: [1])], "at once")
        #expect(probes.back(4, 1, 331) == true)
        #expect(probes.told == [])
    }

    /// Calls of both shards work, as the other subscriber link shows: only the mute link is dialled again.
    @Test func aSubscriberThatBringsNothingIsConvictedAlone() {
        var probes = connected()
        _ = probes.due(0)
        #expect(probes.back(1, 0, 1) == true)
        #expect(probes.back(1, 1, 1) == true)
        #expect(probes.due(100) == [.send(number: 2, shards: [0, 1])])
        for publisher in 0..<2 { #expect(probes.back(2, publisher, 101, at: [0]) == true) }
        #expect(probes.due(399) == [.send(number: 3, shards: [0, 1])], "the other link is proven meanwhile")
        for publisher in 0..<2 { #expect(probes.back(3, publisher, 399, at: [0]) == true) }
        #expect(probes.due(400) == [.reconnect([.subscriber(1)], .probeLost)])
        #expect(probes.told == ["subscriber 1 probe_lost"])
        #expect(probes.due(401) == [], "once")
        probes.subscriber(1, .down(RedisFailure(.timedOut)), nowMs: 410)
        probes.subscriber(1, .up(runID: one), nowMs: 420)
        #expect(probes.told == ["subscriber 1 probe_lost"])
        probes.subscriberLive(1)
        #expect(probes.due(421) == [.send(number: 4, shards: [0, 1])], "at once")
        #expect(probes.back(4, 0, 422, at: [1]) == true)
        #expect(probes.told == [])
    }

    /// Each number comes from one of two shards: it was published, since another link brought it.
    @Test func aSubscriberThatLacksTheNumbersOfOneShardIsConvicted() {
        var probes = connected()
        _ = probes.due(0)
        #expect(probes.back(1, 0, 1) == true)
        #expect(probes.back(1, 1, 1, at: [0]) == true)
        #expect(probes.due(300) == [.reconnect([.subscriber(1)], .probeLost)])
        #expect(probes.told == ["subscriber 1 probe_lost"])
    }

    @Test func aMuteSubscriberAndAnotherShardsMuteCallsAreBothFound() {
        var probes = connected()
        _ = probes.due(0)
        #expect(probes.back(1, 0, 1, at: [0]) == true)
        #expect(probes.due(300) == [.reconnect([.subscriber(1), .shard(1)], .probeLost)])
    }

    @Test func lossOfAllConvictsAll() {
        var probes = connected()
        _ = probes.due(0)
        #expect(probes.due(299) == [])
        #expect(
            probes.due(300) == [.reconnect([.subscriber(0), .subscriber(1), .shard(0), .shard(1)], .probeLost)])
        #expect(
            probes.told == [
                "subscriber 0 probe_lost", "subscriber 1 probe_lost", "shard-0 probe_lost", "shard-1 probe_lost",
            ])
        #expect(probes.due(301) == [], "once")
    }

    @Test func theOnlyShardsLossConvictsAll() {
        var probes = connected(shards: 1)
        _ = probes.due(0)
        #expect(probes.due(300) == [.reconnect([.subscriber(0), .shard(0)], .probeLost)])
    }

    @Test func silenceConvictsTheSubscribersWhateverBecomesOfTheLinksForCalls() {
        var probes = connected()
        _ = probes.due(0)
        for shard in 0..<2 { probes.calls(shard, .down(RedisFailure(.timedOut)), nowMs: 200) }
        #expect(probes.due(299) == [])
        #expect(probes.due(300) == [.reconnect([.subscriber(0), .subscriber(1)], .probeLost)])
        #expect(probes.due(1_000) == [], "nothing is asked for any more")
    }

    @Test func aSubscriptionThatIsNotConfirmedConvictsItsLink() {
        var probes = DeliveryProbes(shards: 1, intervalMs: 100, timeoutMs: 300)
        #expect(probes.told == ["subscriber 0 connecting", "shard-0 connecting"])
        probes.calls(0, .up(runID: one), nowMs: 0)
        #expect(probes.due(10) == [])
        probes.subscriber(0, .up(runID: one), nowMs: 20)
        #expect(probes.told == ["subscriber 0 subscribing"])
        #expect(probes.due(319) == [])
        #expect(probes.due(320) == [.reconnect([.subscriber(0)], .probeLost)])
    }

    @Test func aSubscribersEndVoidsWhatIsOnItsWay() {
        var probes = connected()
        _ = probes.due(0)
        probes.subscriber(0, .down(RedisFailure(.loading)), nowMs: 10)
        #expect(probes.told == ["subscriber 0 loading", "subscriber 1 unproven"])
        #expect(probes.back(1, 0, 11, at: [0]) == false)
        #expect(probes.back(1, 0, 11, at: [1]) == true, "the other link brings it")
        #expect(probes.back(1, 1, 11, at: [1]) == true)
        probes.subscriber(1, .down(RedisFailure(.loading)), nowMs: 12)
        #expect(probes.due(400) == [])
        for shard in 0..<2 { probes.subscriber(shard, .up(runID: one), nowMs: 400) }
        for shard in 0..<2 { probes.subscriberLive(shard) }
        #expect(probes.due(401) == [.send(number: 2, shards: [0, 1])])
    }

    @Test func differentProcessesAreLeftWhenTheyStayDifferent() {
        var probes = connected()
        probes.subscriber(0, .up(runID: other), nowMs: 50)
        for nowMs in [50, 150, 250] {
            guard case .send(let number, _)? = probes.due(nowMs).first else { continue }
            for publisher in 0..<2 { #expect(probes.back(number, publisher, nowMs, at: [1]) == true) }
        }
        #expect(
            probes.due(350)
                == [.reconnect([.subscriber(0), .subscriber(1), .shard(0), .shard(1)], .redisMismatch)])
        #expect(probes.told == ["subscriber 0 redis_mismatch"], "the other three agree")
        probes.calls(0, .down(RedisFailure(.disconnected)), nowMs: 351)
        #expect(probes.told == ["subscriber 0 redis_mismatch", "shard-0 connecting"])
    }

    @Test func aProbeLostBetweenDifferentProcessesIsTheirDifference() {
        var probes = connected()
        _ = probes.due(0)
        probes.calls(1, .up(runID: other), nowMs: 10)
        #expect(probes.due(10) == [.send(number: 2, shards: [1])])
        #expect(probes.back(1, 0, 11) == true)
        #expect(
            probes.due(310)
                == [.reconnect([.subscriber(0), .subscriber(1), .shard(0), .shard(1)], .redisMismatch)])
        #expect(probes.told == ["shard-1 redis_mismatch"])
    }

    @Test func aShortDifferenceIsAFailoverOnItsWay() {
        var probes = connected()
        probes.calls(0, .up(runID: other), nowMs: 10)
        _ = probes.due(10)
        probes.calls(1, .up(runID: other), nowMs: 100)
        _ = probes.due(100)
        for shard in 0..<2 { probes.subscriber(shard, .up(runID: other), nowMs: 200) }
        for shard in 0..<2 { probes.subscriberLive(shard) }
        #expect(probes.due(309) == [.send(number: 3, shards: [0, 1])])
        #expect(probes.back(3, 0, 310) == true)
        #expect(probes.back(3, 1, 310) == true)
        #expect(probes.told == [])
    }

    /// A shard that had not yet asked stayed with the replica: without a subscriber nobody asked it to publish.
    @Test func aDemotedMasterIsLeftByEveryLink() {
        var probes = connected()
        probes.calls(0, .down(RedisFailure(.readOnly)), nowMs: 10)
        #expect(
            probes.due(10)
                == [.reconnect([.subscriber(0), .subscriber(1), .shard(1)], .redis(.readOnly))])
        for shard in 0..<2 { probes.subscriber(shard, .down(nil), nowMs: 11) }
        probes.calls(1, .down(nil), nowMs: 11)
        #expect(probes.due(1_000) == [])
        #expect(
            probes.told == [
                "subscriber 0 readonly", "subscriber 1 readonly", "shard-0 readonly", "shard-1 readonly",
            ])
    }

    @Test func linksToOtherServersStayWhenOneIsDemoted() {
        var probes = connected()
        probes.calls(1, .up(runID: Array("another".utf8)), nowMs: 5)
        probes.calls(0, .down(RedisFailure(.readOnly)), nowMs: 10)
        #expect(probes.due(10) == [.reconnect([.subscriber(0), .subscriber(1)], .redis(.readOnly))])
    }

    @Test func timeThatTheProcessDidNotRunIsNotHeldAgainstLinks() {
        var probes = connected()
        _ = probes.due(0)
        #expect(probes.due(nowMs: 30_000, resumedMs: 30_000) == [])
        #expect(probes.due(nowMs: 30_299, resumedMs: 30_000) == [])
        #expect(probes.due(nowMs: 30_300, resumedMs: 30_000).count == 1)
    }

    @Test func aShardThatEndedIsNotMissed() {
        var probes = connected()
        _ = probes.due(0)
        #expect(probes.back(1, 0, 1) == true)
        probes.calls(1, .ended, nowMs: 2)
        probes.subscriber(1, .ended, nowMs: 2)
        #expect(probes.told == [])
        #expect(probes.provenMs == 1)
        #expect(probes.due(100) == [.send(number: 2, shards: [0])])
        #expect(probes.back(2, 0, 101, at: [0]) == true, "no number of the shard is missing")
        #expect(probes.due(200) == [.send(number: 3, shards: [0])])
    }

    /// In random weather every lasting fault is found in time, by the right links, and nothing else is blamed.
    @Test(arguments: 0..<Histories.count(80, atLeast: 20))
    func randomSchedules(_ seed: Int) {
        var world = ProbeWorld(seed: UInt64(seed))
        for _ in 0..<20 { world.round() }
        #expect(world.faults == [], "seed \(seed)")
    }
}
