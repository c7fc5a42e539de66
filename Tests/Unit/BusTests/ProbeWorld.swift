import RedisLink
import TestSupport

@testable import Bus
@testable import Operations

private let one = Array(repeating: UInt8(ascii: "1"), count: 40)
private let other = Array(repeating: UInt8(ascii: "2"), count: 40)

/// Links over virtual time: numbers come back late, faults come and go, a given-up link is dialled again.
struct ProbeWorld {
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
    var returns: [(atMs: Int, number: Int, publisher: Int, shard: Int)] = []
    /// When Redis confirms the subscription to probes, by shard.
    var confirmMs: [Int: Int] = [:]
    /// The parts whose connection leads to the wrong server; it outlasts the fault.
    var strays: Set<Condition.Part> = []
    var faults: [String] = []

    init(seed: UInt64) {
        random = Seeded(seed)
        shards = Int.random(in: 1...4, using: &random)
        probes = DeliveryProbes(shards: shards, intervalMs: ProbeWorld.interval, timeoutMs: ProbeWorld.timeout)
        for part in parts { dials.append((Int.random(in: 0...200, using: &random), part)) }
    }

    private var told: [String] { probes.conditions.map { "\($0.part) \($0.reason.label)" } }

    var parts: [Condition.Part] { (0..<shards).map { .subscriber($0) } + (0..<shards).map { .shard($0) } }

    /// Peace, a fault of random kind and begin for long enough to be found, peace.
    mutating func round() {
        fault = .none
        let proven = run(forMs: 15_000) { $0.probes.conditions.isEmpty }
        if proven == nil { faults.append("not proven in peace at \(nowMs): \(told)") }
        let blamedInPeace = run(forMs: Int.random(in: 1...6_000, using: &random)) { !$0.probes.conditions.isEmpty }
        if blamedInPeace != nil { faults.append("blamed in peace at \(nowMs): \(told)") }
        fault = Fault.allCases.randomElement(using: &random) ?? .none
        victim = Int.random(in: 0..<shards, using: &random)
        switch fault {
        case .wrongSubscriber, .unconfirmed: redial(.subscriber(victim))
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
        case .muteSubscriber where shards > 1:
            if blame.parts != [.subscriber(victim)] { faults.append("subscriber \(victim) mute, blamed \(blame)") }
        case .unconfirmed:
            if blame.parts != [.subscriber(victim)] { faults.append("\(victim) not confirmed, blamed \(blame)") }
        case .wrongSubscriber, .wrongShard:
            if blame.reason != .redisMismatch { faults.append("wrong process, blamed \(blame)") }
        case .muteSubscriber, .muteShard: break
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
        case .subscriber(let shard):
            probes.subscriber(shard, down, nowMs: nowMs)
            returns.removeAll { $0.shard == shard }
            confirmMs[shard] = nil
        case .shard(let shard): probes.calls(shard, down, nowMs: nowMs)
        case .node, .master: break
        }
        dials.append((nowMs + Int.random(in: 100...400, using: &random), part))
    }

    private mutating func step() {
        nowMs += Int.random(in: 1...ProbeWorld.tick, using: &random)
        for dial in dials where dial.atMs <= nowMs {
            switch dial.part {
            case .subscriber(let shard):
                let isWrong = fault == .wrongSubscriber && shard == victim
                stray(dial.part, isWrong)
                probes.subscriber(shard, .up(runID: isWrong ? other : one), nowMs: nowMs)
                confirmMs[shard] = nowMs + Int.random(in: 0...100, using: &random)
            case .shard(let shard):
                let isWrong = fault == .wrongShard && shard == victim
                stray(dial.part, isWrong)
                probes.calls(shard, .up(runID: isWrong ? other : one), nowMs: nowMs)
            case .node, .master: break
            }
        }
        dials.removeAll { $0.atMs <= nowMs }
        for (shard, atMs) in confirmMs where atMs <= nowMs && (fault != .unconfirmed || shard != victim) {
            probes.subscriberLive(shard)
            confirmMs[shard] = nil
        }
        for back in returns where back.atMs <= nowMs {
            _ = probes.returned(back.number, of: back.publisher, at: back.shard, nowMs: nowMs)
        }
        returns.removeAll { $0.atMs <= nowMs }
        for step in probes.due(nowMs: nowMs, resumedMs: .min) {
            switch step {
            case .send(let number, let asked):
                for publisher in asked {
                    for shard in 0..<shards where arrives(publisher, at: shard) {
                        let atMs = nowMs + Int.random(in: 0...1_000, using: &random)
                        returns.append((atMs, number, publisher, shard))
                    }
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

    private func arrives(_ publisher: Int, at shard: Int) -> Bool {
        guard strays.contains(.shard(publisher)) == strays.contains(.subscriber(shard)) else { return false }
        return switch fault {
        case .none, .wrongSubscriber, .wrongShard: true
        case .muteSubscriber, .unconfirmed: shard != victim
        case .muteShard: publisher != victim
        }
    }
}
