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
    probes.subscriber(.up(runID: one), nowMs: 0)
    for shard in 0..<shards { probes.shard(shard, .up(runID: one), nowMs: 0) }
    probes.subscriberLive()
    return probes
}

extension DeliveryProbes {
    fileprivate mutating func due(_ nowMs: Int) -> [Step] { due(nowMs: nowMs, resumedMs: .min) }
    fileprivate mutating func back(_ number: Int, _ shard: Int, _ nowMs: Int) -> Bool {
        returned(number, shard: shard, nowMs: nowMs)
    }
    fileprivate var told: [String] { conditions.map { "\($0.part.name) \($0.reason.label)" } }
}

@Suite struct DeliveryProbesTests {
    @Test func numbersThatComeBackAreFollowedByTheNextAfterTheInterval() {
        var probes = connected()
        #expect(probes.due(0) == [.send(number: 1, shards: [0, 1])])
        #expect(probes.told == ["subscriber unproven"])
        #expect(probes.provenMs == nil)
        #expect(probes.back(2, 0, 5) == false)
        #expect(probes.back(1, 2, 5) == false)
        #expect(probes.back(1, -1, 5) == false)
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
        probes.shard(1, .down(RedisFailure(.timedOut)), nowMs: 310)
        #expect(probes.told == ["shard-1 probe_lost"], "its end is our doing")
        probes.shard(1, .down(RedisFailure(.disconnected)), nowMs: 320)
        #expect(probes.told == ["shard-1 disconnected"], "a dial of another outcome is news")
        probes.shard(1, .up(runID: one), nowMs: 330)
        #expect(probes.told == ["shard-1 unproven"])
        #expect(probes.due(330) == [.send(number: 4, shards: [1])], "at once")
        #expect(probes.back(4, 1, 331) == true)
        #expect(probes.told == [])
    }

    @Test func lossOfAllConvictsAll() {
        var probes = connected()
        _ = probes.due(0)
        #expect(probes.due(299) == [])
        #expect(probes.due(300) == [.reconnect([.subscriber, .shard(0), .shard(1)], .probeLost)])
        #expect(probes.told == ["subscriber probe_lost", "shard-0 probe_lost", "shard-1 probe_lost"])
        #expect(probes.due(301) == [], "once")
    }

    @Test func theOnlyShardsLossConvictsAll() {
        var probes = connected(shards: 1)
        _ = probes.due(0)
        #expect(probes.due(300) == [.reconnect([.subscriber, .shard(0)], .probeLost)])
    }

    @Test func silenceConvictsTheSubscriberWhateverBecomesOfTheShardsLinks() {
        var probes = connected()
        _ = probes.due(0)
        for shard in 0..<2 { probes.shard(shard, .down(RedisFailure(.timedOut)), nowMs: 200) }
        #expect(probes.due(299) == [])
        #expect(probes.due(300) == [.reconnect([.subscriber], .probeLost)])
        #expect(probes.due(1_000) == [], "nothing is asked for any more")
    }

    @Test func aSubscriptionThatIsNotConfirmedConvictsTheSubscriber() {
        var probes = DeliveryProbes(shards: 1, intervalMs: 100, timeoutMs: 300)
        #expect(probes.told == ["subscriber connecting", "shard-0 connecting"])
        probes.shard(0, .up(runID: one), nowMs: 0)
        #expect(probes.due(10) == [])
        probes.subscriber(.up(runID: one), nowMs: 20)
        #expect(probes.told == ["subscriber subscribing"])
        #expect(probes.due(319) == [])
        #expect(probes.due(320) == [.reconnect([.subscriber], .probeLost)])
    }

    @Test func theSubscribersEndVoidsWhatIsOnItsWay() {
        var probes = connected()
        _ = probes.due(0)
        probes.subscriber(.down(RedisFailure(.loading)), nowMs: 10)
        #expect(probes.told == ["subscriber loading"])
        #expect(probes.back(1, 0, 11) == false)
        #expect(probes.due(400) == [])
        probes.subscriber(.up(runID: one), nowMs: 400)
        probes.subscriberLive()
        #expect(probes.due(401) == [.send(number: 2, shards: [0, 1])])
    }

    @Test func differentProcessesAreLeftWhenTheyStayDifferent() {
        var probes = connected()
        probes.subscriber(.up(runID: other), nowMs: 50)
        #expect(probes.due(50) == [], "not confirmed yet")
        #expect(probes.due(349) == [])
        #expect(probes.due(350) == [.reconnect([.subscriber, .shard(0), .shard(1)], .redisMismatch)])
        #expect(probes.told == ["subscriber redis_mismatch"], "the two shards agree")
        probes.shard(0, .down(RedisFailure(.disconnected)), nowMs: 351)
        #expect(probes.told == ["subscriber redis_mismatch", "shard-0 connecting"])
    }

    @Test func aProbeLostBetweenDifferentProcessesIsTheirDifference() {
        var probes = connected()
        _ = probes.due(0)
        probes.shard(1, .up(runID: other), nowMs: 10)
        #expect(probes.due(10) == [.send(number: 2, shards: [1])])
        #expect(probes.back(1, 0, 11) == true)
        #expect(probes.due(310) == [.reconnect([.subscriber, .shard(0), .shard(1)], .redisMismatch)])
        #expect(probes.told == ["shard-1 redis_mismatch"])
    }

    @Test func aShortDifferenceIsAFailoverOnItsWay() {
        var probes = connected()
        probes.shard(0, .up(runID: other), nowMs: 10)
        _ = probes.due(10)
        probes.shard(1, .up(runID: other), nowMs: 100)
        _ = probes.due(100)
        probes.subscriber(.up(runID: other), nowMs: 200)
        probes.subscriberLive()
        #expect(probes.due(309) == [.send(number: 3, shards: [0, 1])])
        #expect(probes.back(3, 0, 310) == true)
        #expect(probes.back(3, 1, 310) == true)
        #expect(probes.told == [])
    }

    /// A shard that had not yet asked stayed with the replica: without a subscriber nobody asked it to publish.
    @Test func aDemotedMasterIsLeftByEveryLink() {
        var probes = connected()
        probes.shard(0, .down(RedisFailure(.readOnly)), nowMs: 10)
        #expect(probes.due(10) == [.reconnect([.subscriber, .shard(1)], .redis(.readOnly))])
        probes.subscriber(.down(nil), nowMs: 11)
        probes.shard(1, .down(nil), nowMs: 11)
        #expect(probes.due(1_000) == [])
        #expect(probes.told == ["subscriber readonly", "shard-0 readonly", "shard-1 readonly"])
    }

    @Test func linksToOtherServersStayWhenOneIsDemoted() {
        var probes = connected()
        probes.shard(1, .up(runID: Array("another".utf8)), nowMs: 5)
        probes.shard(0, .down(RedisFailure(.readOnly)), nowMs: 10)
        #expect(probes.due(10) == [.reconnect([.subscriber], .redis(.readOnly))])
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
        probes.shard(1, .ended, nowMs: 2)
        #expect(probes.told == [])
        #expect(probes.provenMs == 1)
        #expect(probes.due(100) == [.send(number: 2, shards: [0])])
    }

    /// In random weather every lasting fault is found in time, by the right links, and nothing else is blamed.
    @Test(arguments: 0..<Histories.count(80, atLeast: 20))
    func randomSchedules(_ seed: Int) {
        var world = ProbeWorld(seed: UInt64(seed))
        for _ in 0..<20 { world.round() }
        #expect(world.faults == [], "seed \(seed)")
    }
}

/// Links over virtual time: numbers come back late, faults come and go, a given-up link is dialled again.
private struct ProbeWorld {
    enum Fault: CaseIterable {
        case none, muteSubscriber, muteShard, wrongSubscriber, wrongShard, unconfirmed
    }

    static let (interval, timeout, tick) = (2_500, 5_000, 250)
    var random: Seeded
    var probes: DeliveryProbes
    let shards: Int
    var nowMs = 0
    var fault = Fault.none
    var victim = 0
    var dials: [(atMs: Int, part: Condition.Part)] = []
    var returns: [(atMs: Int, number: Int, shard: Int)] = []
    var confirmMs: Int?
    /// The parts whose connection leads to the wrong server; it outlasts the fault.
    var strays: Set<Condition.Part> = []
    var faults: [String] = []

    init(seed: UInt64) {
        random = Seeded(seed)
        shards = Int.random(in: 1...4, using: &random)
        probes = DeliveryProbes(shards: shards, intervalMs: ProbeWorld.interval, timeoutMs: ProbeWorld.timeout)
        for part in parts { dials.append((Int.random(in: 0...200, using: &random), part)) }
    }

    var parts: [Condition.Part] { [.subscriber] + (0..<shards).map { .shard($0) } }

    /// Peace, a fault of random kind and begin for long enough to be found, peace.
    mutating func round() {
        fault = .none
        let proven = run(forMs: 15_000) { $0.probes.conditions.isEmpty }
        if proven == nil { faults.append("not proven in peace at \(nowMs): \(probes.told)") }
        let blamedInPeace = run(forMs: Int.random(in: 1...6_000, using: &random)) { !$0.probes.conditions.isEmpty }
        if blamedInPeace != nil { faults.append("blamed in peace at \(nowMs): \(probes.told)") }
        fault = Fault.allCases.randomElement(using: &random) ?? .none
        victim = Int.random(in: 0..<shards, using: &random)
        switch fault {
        case .wrongSubscriber, .unconfirmed: redial(.subscriber)
        case .wrongShard: redial(.shard(victim))
        case .none, .muteSubscriber, .muteShard: break
        }
        let began = nowMs
        var isFound = false
        while nowMs - began < 10_000 {
            step()
            for part in blamed { check(part, &isFound) }
            blamed = []
        }
        if fault != .none && !isFound { faults.append("\(fault) not found within 10 s") }
        if fault != .none && probes.conditions.isEmpty { faults.append("\(fault) and proven") }
    }

    var blamed: [(parts: [Condition.Part], reason: NotReadyReason)] = []

    private mutating func check(
        _ blame: (parts: [Condition.Part], reason: NotReadyReason), _ isFound: inout Bool
    ) {
        isFound = true
        switch fault {
        case .none: faults.append("blamed \(blame) without a fault")
        case .muteShard where shards > 1:
            if blame.parts != [.shard(victim)] { faults.append("shard \(victim) mute, blamed \(blame)") }
        case .wrongSubscriber, .wrongShard:
            if blame.reason != .redisMismatch { faults.append("wrong process, blamed \(blame)") }
        case .muteSubscriber, .unconfirmed, .muteShard: break
        }
    }

    private mutating func run(forMs: Int, until: (Self) -> Bool) -> Int? {
        let end = nowMs + forMs
        while nowMs < end {
            step()
            blamed = []
            if until(self) { return nowMs }
        }
        return nil
    }

    private mutating func redial(_ part: Condition.Part) {
        let down = LinkReport.down(RedisFailure(.timedOut))
        switch part {
        case .subscriber:
            probes.subscriber(down, nowMs: nowMs)
            returns = []
            confirmMs = nil
        case .shard(let shard): probes.shard(shard, down, nowMs: nowMs)
        case .node, .master: break
        }
        dials.append((nowMs + Int.random(in: 100...400, using: &random), part))
    }

    private mutating func step() {
        nowMs += Int.random(in: 1...ProbeWorld.tick, using: &random)
        for dial in dials where dial.atMs <= nowMs {
            switch dial.part {
            case .subscriber:
                let isWrong = fault == .wrongSubscriber
                stray(dial.part, isWrong)
                probes.subscriber(.up(runID: isWrong ? other : one), nowMs: nowMs)
                confirmMs = nowMs + Int.random(in: 0...100, using: &random)
            case .shard(let shard):
                let isWrong = fault == .wrongShard && shard == victim
                stray(dial.part, isWrong)
                probes.shard(shard, .up(runID: isWrong ? other : one), nowMs: nowMs)
            case .node, .master: break
            }
        }
        dials.removeAll { $0.atMs <= nowMs }
        if let confirmMs, confirmMs <= nowMs, fault != .unconfirmed {
            probes.subscriberLive()
            self.confirmMs = nil
        }
        for back in returns where back.atMs <= nowMs {
            _ = probes.returned(back.number, shard: back.shard, nowMs: nowMs)
        }
        returns.removeAll { $0.atMs <= nowMs }
        for step in probes.due(nowMs: nowMs, resumedMs: .min) {
            switch step {
            case .send(let number, let asked):
                for shard in asked where arrives(shard) {
                    returns.append((nowMs + Int.random(in: 0...1_000, using: &random), number, shard))
                }
            case .reconnect(let parts, let reason):
                blamed.append((parts, reason))
                for part in parts { redial(part) }
            }
        }
    }

    private mutating func stray(_ part: Condition.Part, _ isWrong: Bool) {
        if isWrong { strays.insert(part) } else { strays.remove(part) }
    }

    private func arrives(_ shard: Int) -> Bool {
        guard strays.contains(.shard(shard)) == strays.contains(.subscriber) else { return false }
        return switch fault {
        case .none, .wrongSubscriber, .wrongShard: true
        case .muteSubscriber, .unconfirmed: false
        case .muteShard: shard != victim
        }
    }
}
